/// A promise that was broken.
package struct Violation: Hashable, Sendable, CustomStringConvertible {
    /// Which: a name of `Promise`, or what the house calls it.
    package var promise: String
    /// What was seen.
    package var detail: String
    /// Virtual seconds since the seed began.
    package var at: Double

    package var description: String { "\(promise) at \(at)s: \(detail)" }
}

/// What the relay promises; each checker guards one.
enum Promise: String {
    case durable = "P1 acknowledged events are durable, once, byte-equal"
    case once = "P2 one key, one event, one answer"
    case order = "P3 versions are dense and never go back"
    case shownIsDurable = "P1 nothing is shown that is not durable"
    case converges = "P4 after heal and quiet every live phone holds the projected state"
    case ended = "P4 ended activities got their end"
    case noWait = "P4 nothing waits longer than its bound on a healthy path"
    case alertOnce = "P4 an alert at most once per version and device"
    case echo = "rule 15: what was lost goes once more, and at most twice for each change"
    case alertInTime = "rule 4: an alert goes within its time or not at all"
    case paused = "rule 16: nothing goes while an operator holds it"
    case fresh = "rule 1: a card is stale when its producer's data is, and not before"
    case inFront = "rule 12: no frame while the app is in front"
    case startInTime = "rule 5: a start waits no longer than its start_wait"
    case renewal =
        "rule 13: a card has one successor, near its end, and goes when that can be updated"
    case lapsed = "rule 13: nothing goes to a card that the system has ended"
    case adopted = "rule 5: an adopted activity needs no start"
    case ledger = "every event and frame ends in exactly one decision per destination"
    case widgets = "a widget gets its user's newest timeline, and after all heals shows it"
    case doors = "no door is shown to another or opened by another, and none opens late"
    case outcomes = "each step of a card's life is in the history, once"
    case bounds = "memory, queues and streams stay within bounds"
    case secrets = "no secret, token or content in what is told"
    case recovery = "recovery time is bounded, by what lives"
    case endMany = "one end for every running activity that matches"
    case budget = "P5 no window holds more than the grant"
    case spacing = "P5 sends keep their spacing"
    case retired = "P6 nothing to a token after its retirement is on record"
    case tenants = "P7 tenants are never mixed"
    case ownCount = "P7 what a tenant writes counts 1, 2, 3, whatever others write"
    case timestamp = "a phone never sees the timestamp go back"
    case fold = "fold(log) = recovered state"
    case damage = "a log that was not damaged recovers without damage"
    case oneStart = "rule 5: one start per activity, device and incarnation"
    case endIsLast = "rule 4: nothing follows an end but its own repetition"
    case inFlight = "rule 6: one in flight per destination"
    case streams = "rule 14: the stream limit is obeyed"
    case channels = "P7 a private channel carries one activity's incarnation"
    case endPriority = "rule 4: an end goes at priority 10"
    case framePriority = "rule 7: a frame never takes priority 10 where that has a budget"
    case frames = "rule 9: a looping flip-book shows its frames in turn"
    case wire = "what goes over HTTP/2 is what was sent, and what is told of it is true"
    case size = "rule 11: at most 4,096 bytes"
    case bundles = "rule 10: a bundle is the flip-book that was asked for, in one push"
    case broadcasts = "a named channel carries one activity after the other"
    case reloads = "a reload that was taken goes to the surface's newest token"
    case reloadsAsked = "a reload goes where somebody has asked since the last"
    case audience = "P7 what is for some is shown to nobody else"
    case served = "rule 14: a right phone is served soon, whatever others' tokens are"
    case left = "P7 no phone keeps a card of another user"
    case holders = "a token is one device's, and goes to another one only by right"
    case listed = "what runs is listed"
    case tokensKnown = "after heal and quiet the relay knows each card's update token"
    case clock = "rule 6: a clock that is set right is followed"
    case answered = "every request is answered once"
    case laws = "the core's own laws hold"
    case progress = "the world comes to its end"
}
