import Testing

@testable import TomboloAPI
@testable import TomboloCore

/// What an explanation says is so: an answer that a planted history shows to be untrue is not
/// given, and the true one is.
@Suite struct ExplainerTruthTests {
    /// What an explanation must say, and must not.
    struct Claim: CustomTestStringConvertible, Sendable {
        var one: ExplainerCase
        var says: String
        var never: String
        /// It is the likeliest cause, and not one among others.
        var isFirst: Bool

        var testDescription: String { one.what }

        init(
            _ code: String?, _ what: String, says: String, never: String, isFirst: Bool = true,
            _ change: (inout Evidence) -> Void
        ) {
            one = ExplainerCase(code, what, change)
            (self.says, self.never, self.isFirst) = (says, never, isFirst)
        }
    }

    private static let card = #""token":"activity:cat-7""#
    private static let dropped = #"{"phase":"active","received_version":2,"misses_push":true}"#

    private static let ofKills: [Claim] = [
        Claim(
            "relay_killed", "a merger that was decided again after a kill",
            says: "Version 3 may have gone: its record was lost", never: "took its place"
        ) {
            $0.kill(at: 1, until: 9)
            $0.push(4, at: 10)
        },
        Claim(
            "relay_killed", "the version came after all that the killed relay wrote",
            says: "Version 3 may have gone", never: "was merged into"
        ) {
            $0.kill(at: -300, until: 9)
            $0.push(4, at: 10)
        },
        Claim(
            "merged", "the version came long before the kill",
            says: "was merged into version 4", never: "may have gone"
        ) {
            $0.kill(at: 300, until: 310)
            $0.push(4, at: 311)
        },
        Claim(
            "relay_killed", "a start whose answer was lost by a kill",
            says: "The start (version 3) may have gone", never: "Apple did not answer"
        ) {
            $0.asked.kind = .start
            $0.kill(at: 1, until: 9)
            $0.wait(.unknownStart)
        },
        Claim(
            "start_unknown", "a start that Apple did not answer",
            says: "Apple's answer is not known", never: "not on record"
        ) {
            $0.push(3, .unknown(reason: "no answer in time"), event: .start, decides: false)
            $0.wait(.unknownStart)
        },
    ]

    private static let ofStarts: [Claim] = [
        Claim(
            "start_wait", "a start that waited too long for its token",
            says: "It waited 15m for this: The phone has no push-to-start token",
            never: "cannot be reached"
        ) {
            $0.destination?.phase = "gone"
            $0.goOn(.startWait, held: [.startToken: 900, .reserving: 1])
        },
        Claim(
            "start_wait", "a start that a pause held too long",
            says: "It waited 15m for this: An operator has paused these pushes.",
            never: "After `resume`"
        ) {
            $0.destination?.phase = "gone"
            $0.goOn(.startWait, held: [.paused: 900])
        },
        Claim(
            "no_route", "a start that was given up", says: "cannot be reached",
            never: "start_wait"
        ) {
            $0.destination?.phase = "gone"
            $0.goOn(.noRoute)
        },
    ]

    private static let ofPhones: [Claim] = [
        Claim(
            "phone_unreachable", "an older version was reported before the push",
            says: "pushes have reached it", never: "no schema"
        ) {
            $0.typeCheck = TypeCheck(isRegistered: false, hasSchema: false)
            $0.phone("card.reported", dropped, at: -9)
            $0.push()
        },
        Claim(
            nil, "the phone has the version", says: "that it has version 3", never: "offline"
        ) {
            $0.push(priority: 5)
            $0.typeCheck = TypeCheck(isRegistered: false, hasSchema: false)
            $0.phone("card.reported", #"{"phase":"active","received_version":3}"#, at: 400)
        },
        Claim(
            "low_priority", "what the phone shows is not known", says: "priority 5",
            never: "did not draw"
        ) {
            $0.push(priority: 5)
            $0.phone("card.reported", #"{"phase":"active","misses_push":true}"#, at: 9)
        },
        Claim(
            nil, "the phone drew the version",
            says: "it drew version 3", never: "offline"
        ) {
            $0.push()
            $0.phone("card.reported", #"{"phase":"active","drawn_version":3}"#, at: 9)
        },
        Claim(
            "extension_frozen", "the phone has the version, and draws an older one",
            says: "did not report that it drew it", never: "shows version 3"
        ) {
            $0.push()
            $0.phone("card.reported", #"{"phase":"active","drawn_version":2}"#, at: 1)
            $0.phone("card.reported", #"{"phase":"active","received_version":3}"#, at: 9)
        },
        Claim(
            "dismissed", "the phone said that its user swiped",
            says: "The user swiped the card away", never: "did not say"
        ) {
            $0.push()
            $0.phone("card.reported", #"{"phase":"dismissed","by":"user"}"#, at: 9)
        },
        Claim(
            "low_power", "a push of priority 5 that is received and not drawn",
            says: "Low Power Mode", never: "offline", isFirst: false
        ) {
            $0.push(priority: 5)
            $0.phone(
                "card.reported", #"{"phase":"active","received_version":3,"drawn_version":2}"#,
                at: 9)
        },
        Claim(
            "loading_overlay", "a spinner may be the cause as well",
            says: "loading spinner", never: "offline", isFirst: false
        ) {
            $0.push()
            $0.phone(
                "card.reported", #"{"phase":"active","received_version":3,"drawn_version":2}"#,
                at: 9)
        },
        Claim(
            "merged", "the activity's own page says that the phone has it",
            says: "has the state of version 4", never: "shows the state"
        ) {
            $0.push(4)
            $0.destination?.shownMatches = true
            $0.destination?.shown?.shownAt = Evidence.at(2)
        },
        Claim(
            "phone_unreachable", "the state of before the version was the same", says: "offline",
            never: "has the state"
        ) {
            $0.push(3)
            $0.newest = 3
            $0.destination?.shownMatches = true
            $0.destination?.shown?.shownAt = Evidence.at(-2)
        },
        Claim(
            nil, "a push of a moment ago", says: "nothing speaks against it", never: "offline"
        ) {
            $0.push()
            $0.now = Evidence.at(20)
        },
        Claim(
            "dismissed", "the phone does not say by whom",
            says: "did not say whether by the user", never: "The user dismissed"
        ) {
            $0.push()
            $0.phone("card.reported", #"{"phase":"dismissed"}"#, at: 9)
        },
        Claim(
            "dismissed", "the relay had ended the card", says: "the relay had ended it",
            never: "The user dismissed"
        ) {
            $0.push()
            $0.push(4, at: 5, event: .end, decides: false)
            $0.phone("card.reported", #"{"phase":"dismissed"}"#, at: 9)
        },
        Claim(
            "user_changed", "the device has another user",
            says: "The user of phone-1 changed", never: "dismissed the card"
        ) {
            $0.push()
            $0.phone("device.user_changed", "{}", at: 5)
            $0.push(4, at: 6, event: .end, decides: false)
            $0.phone("card.reported", #"{"phase":"dismissed"}"#, at: 9)
        },
        Claim(
            "user_changed", "the device had another user before the version went",
            says: "The user of phone-1 changed", never: "has not registered"
        ) {
            $0.phone("device.user_changed", "{}", at: 1)
            $0.skip(.noRoute, at: 1)
        },
        Claim(
            "no_route", "another user long before the card was lost",
            says: "cannot be reached", never: "The user of"
        ) {
            $0.phone("device.user_changed", "{}", at: -60)
            $0.skip(.noRoute, at: 1)
        },
        Claim(
            "token_gone", "the phone had the card after the push", says: "went later",
            never: "already"
        ) {
            $0.push()
            $0.phone("card.reported", #"{"phase":"active","received_version":2}"#, at: 5)
            $0.phone("token.retired", "{\(card)}", at: 9)
        },
        Claim(
            "no_update_token", "a phone that was silent since before its start",
            says: "off or offline", never: "dismissed"
        ) {
            $0.push(2, at: -30, event: .start)
            $0.wait(.updateToken)
        },
    ]

    private static let ofSilence: [Claim] = [
        Claim(
            "user_changed", "the user has signed out, and another one in",
            says: "The user of phone-1 changed", never: "nothing speaks against it"
        ) {
            $0.push()
            $0.phone("device.user_changed", "{}", at: 5)
            $0.push(4, at: 6, event: .end, decides: false)
            $0.phone("device.user_changed", "{}", at: 20)
            $0.now = Evidence.at(40)
        },
        Claim(
            "phone_unreachable", "a card that came after the change of the user",
            says: "off or offline", never: "The user of phone-1 changed"
        ) {
            $0.phone("device.user_changed", "{}", at: -20)
            $0.push(2, at: -19, event: .end, decides: false)
            $0.push()
        },
        Claim(
            "phone_unreachable", "the relay ended the activity by end_after",
            says: "its producer had said nothing for 5m (`end_after`)", never: "swiped"
        ) {
            $0.asked.kind = .end
            $0.silentEnd = NewFact(
                tenant: Samples.tenant, activity: ActivityNumber(1), kind: "activity.ended",
                recordedAt: Evidence.at(0), body: Array(#"{"end_after":"5m"}"#.utf8))
            $0.push(3, event: .end)
        },
        Claim(
            nil, "the phone reports a version that the relay never made",
            says: "The relay never made that version (the newest is 4)",
            never: "that it drew version"
        ) {
            $0.push()
            $0.phone("card.reported", #"{"phase":"active","drawn_version":9}"#, at: 9)
        },
    ]

    private static let ofPushes: [Claim] = [
        Claim(
            "token_gone", "Apple said 410 to the version",
            says: "refused the push with version 3: 410",
            never: "was not sent"
        ) {
            $0.push(3, .refused(status: 410, reason: "Unregistered"), decides: false)
            $0.skip(.noRoute)
        },
        Claim(
            "wrong_environment", "Apple said BadDeviceToken to a newer one",
            says: "version 4, which has version 3 in it: 400 BadDeviceToken", never: "was not sent"
        ) {
            $0.push(4, .refused(status: 400, reason: "BadDeviceToken"), decides: false)
            $0.skip(.noRoute)
        },
        Claim(
            "unknown", "a start without an answer, whose card never came",
            says: "went, and Apple's answer is not known", never: "was not sent"
        ) {
            $0.push(3, .unknown(reason: "no answer in time"), event: .start, decides: false)
            $0.skip(.noRoute)
        },
        Claim(
            "no_route", "Apple refused an earlier version", says: "was not sent", never: "refused"
        ) {
            $0.push(2, .refused(status: 410, reason: "Unregistered"), at: -9, decides: false)
            $0.skip(.noRoute)
        },
        Claim(
            "bucket", "what is left of a budget is kept", says: "kept for alerts until",
            never: "next try"
        ) {
            $0.destination?.grant.grant = Budgets()[.standard]
            $0.destination?.waiting = .deferred(until: Evidence.at(900), .bucket)
        },
        Claim(
            "state_does_not_decode", "the state lacks what its type asks for",
            says: "/state/lap is missing", never: "no schema"
        ) {
            $0.push()
            $0.newest = 3
            $0.typeCheck = TypeCheck(
                isRegistered: true, hasSchema: true, faults: ["/state/lap is missing"])
        },
        Claim(
            "phone_unreachable", "a type without a schema", says: "has no schema of the type",
            never: "is not what its type"
        ) {
            $0.push()
            $0.typeCheck = TypeCheck(isRegistered: true, hasSchema: false)
        },
        Claim(
            "type_not_registered", "a misspelt type", says: #"did you mean "Runner"?"#,
            never: "dismissed"
        ) {
            $0.type = "Runer"
            $0.typeCheck = TypeCheck(isRegistered: false, hasSchema: false, registered: ["Runner"])
            $0.wait(.startToken)
        },
    ]

    private static let ofTokens: [Claim] = [
        Claim(
            "no_update_token", "a device that has widgets, and no card that its app began",
            says: "Widgets and controls do not wait for it", never: "tapped Allow"
        ) {
            $0.destination?.phase = "waiting"
            $0.wait(.updateToken)
        },
        Claim(
            "start_token_old", "a start to a token of before the phone's system",
            says: "switch the app's Live Activities off and on", never: "Apple refused"
        ) {
            $0.registration?.tokens[0].name = "start:Runner"
            $0.registration?.tokens[0].doubtedSince = Evidence.at(-60)
            $0.push(3, event: .start)
        },
        Claim(
            "no_route", "a version that came after Apple refused the card's token",
            says: "Apple refused the device's token \"activity:cat-7\"",
            never: "has not registered"
        ) {
            $0.destination?.phase = "gone"
            $0.destination?.token = Samples.refused(.activity(ActivityReference("cat-7")!))
            $0.skip(.noRoute)
        },
        Claim(
            "no_start_token", "a start that waits, for Apple refused its token",
            says: "400 BadDeviceToken (sandbox). Such a token is of the other environment",
            never: "registers it at its launch"
        ) {
            $0.destination?.token = Samples.refused(.start(type: "Runner"))
            $0.wait(.startToken)
        },
        Claim(
            "no_start_token", "a refused start token of a type that is nearly another's name",
            says: "Apple refused the device's token \"start:Runer\"",
            never: "has no start token for it"
        ) {
            $0.type = "Runer"
            $0.typeCheck = TypeCheck(isRegistered: false, hasSchema: false, registered: ["Runner"])
            $0.destination?.token = Samples.refused(.start(type: "Runer"))
            $0.wait(.startToken)
        },
    ]

    private static let ofOperators: [Claim] = [
        Claim(
            "no_destination", "a pause of a device that is not in the audience",
            says: "not in the audience", never: "held it back"
        ) {
            $0.destination = nil
            $0.relay("pause.began", #"{"pause":"pause_1"}"#, at: 60)
        },
        Claim(
            "bucket", "a pause that began after the budget was spent", says: "budget is spent",
            never: "held it back"
        ) {
            $0.relay("pause.began", #"{"pause":"pause_1"}"#, at: 60)
            $0.wait(.bucket)
        },
        Claim(
            "paused", "a pause that somebody made",
            says: "An operator (key 0123456789ab) held it back with pause_1 (release)",
            never: "alerts"
        ) {
            $0.relay(
                "pause.began", #"{"pause":"pause_1","reason":"release","by":"0123456789ab"}"#, at: 5
            )
            $0.wait(.paused)
        },
        Claim(
            "phone_unreachable", "a pause of alerts", says: "without their alerts",
            never: "held it back"
        ) {
            $0.relay("pause.began", #"{"pause":"pause_1","alerts_only":true}"#, at: -5)
            $0.push()
        },
        Claim(
            "paused", "a start that waits for a pause of alerts",
            says: "held alerts and starts back",
            never: "all the same"
        ) {
            $0.asked.kind = .start
            $0.relay("pause.began", #"{"pause":"pause_1","alerts_only":true}"#, at: -5)
            $0.wait(.paused)
        },
        Claim(
            "disk_full", "events of that moment were refused", says: "refused events with 507",
            never: "offline"
        ) {
            $0.moment = Evidence.at(100)
            $0.relay("disk.full", at: 90)
            $0.relay("disk.has_room", at: 120)
            $0.push()
            $0.phone("card.reported", #"{"phase":"active","drawn_version":3}"#, at: 9)
        },
        Claim(
            "phone_unreachable", "the disk was full later", says: "offline", never: "507"
        ) {
            $0.moment = Evidence.at(100)
            $0.relay("disk.full", at: 120)
            $0.push()
        },
    ]

    private static let ofTimes: [Claim] = [
        Claim(
            "phone_unreachable", "a report of after the moment", says: "offline",
            never: "that it shows version 3"
        ) {
            $0.moment = Evidence.at(100)
            $0.push()
            $0.phone("card.reported", #"{"phase":"active","drawn_version":3}"#, at: 101)
        },
        Claim(
            nil, "a report of the moment", says: "it drew version 3", never: "offline"
        ) {
            $0.moment = Evidence.at(100)
            $0.push()
            $0.phone("card.reported", #"{"phase":"active","drawn_version":3}"#, at: 100)
        },
        Claim(
            "merged", "a version that came late into a push that had waited long",
            says: "It waited 5", never: "It waited 5m"
        ) {
            $0.push(4, at: 6, held: [.bucket: 300])
        },
    ]

    @Test func `of a past moment only what was on record by then is listed`() {
        let late = ExplainerCase("bucket", "it came later") {
            $0.moment = Evidence.at(10)
            $0.push(2, at: -5)
            $0.push(at: 60, held: [.bucket: 58])
            $0.push(4, at: 70)
            $0.phone("card.reported", #"{"phase":"active","drawn_version":3}"#, at: 61)
        }
        let known = Explainer(late.evidence).explanation.because
        #expect(known.allSatisfy { $0.at.map { $0 <= Evidence.at(10) } ?? true }, "\(known)")
        #expect(
            Set(known.map(\.code)) == ["acknowledged", "recorded", "undecided", "never_heard"])
    }

    @Test(
        arguments: ofKills + ofStarts + ofPhones + ofSilence + ofPushes + ofTokens + ofOperators
            + ofTimes)
    func `an explanation says what is so, and nothing else`(claim: Claim) {
        let found = Explainer(claim.one.evidence).explanation
        let suspects = found.suspects.map { "\($0.code): \($0.text)" }
        if claim.isFirst {
            #expect(found.suspects.first?.code == claim.one.code, "\(suspects)")
        } else {
            #expect(found.suspects.contains { $0.code == claim.one.code }, "\(suspects)")
        }
        let texts =
            [found.answer] + found.because.map(\.text)
            + found.suspects.flatMap { [$0.text] + $0.speaksFor + $0.speaksAgainst }
        #expect(texts.contains { $0.contains(claim.says) }, "\(texts)")
        #expect(!texts.contains { $0.contains(claim.never) }, "\(texts)")
        #expect(texts.allSatisfy { $0.hasSuffix(".") && !$0.contains("  ") }, "\(texts)")
    }
}
