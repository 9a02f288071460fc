package import TomboloJSON

/// One activity in memory: identity, accepted state, durable state, and destinations.
package struct Activity: Sendable {
    /// The members of a start that apply to the whole incarnation.
    package struct Definition: Sendable {
        package var type: String
        package var app: String
        package var audience: Audience
        package var route: StartRoute
        /// The attributes, including the activity's id.
        package var attributes: JSON
        package var onUnknownStart: UnknownStartPolicy
        /// A start that has waited this long for a device is dropped (pacing rule 5).
        package var startWait = Start.startWaitDefault
        /// How long after its last event the relay ends the activity; nil: never.
        package var endAfter: Span?
        package var onTokenGone = TokenGonePolicy.stop
        package var renew = RenewalPolicy.never
        package var startedAt: Instant
        package var framesShowWhen = FramesShowWhen.background
        /// Hash of the start's own fields: two equal starts have the same digest.
        package var digest: UInt64

        /// True if the audience is a broadcast channel.
        var isOnChannel: Bool { if case .channel = audience { true } else { false } }
        /// Apple's maximum for a push of the activity, in bytes.
        var payloadBytesMax: Int {
            isOnChannel ? Payload.broadcastBytesMax : Payload.bytesMax
        }
    }

    /// Lets copies of an activity, the states of its heads and its events share one definition. A
    /// copy of the activity then costs one reference count for it.
    final class DefinitionBox: Sendable {
        let value: Definition
        init(_ value: Definition) { self.value = value }
    }

    package let key: ActivityKey
    package let number: ActivityNumber
    package internal(set) var incarnation: Int64
    var definitionBox: DefinitionBox
    /// The state after all accepted events, durable or not. A failed log does not roll it back,
    /// because the relay stops then.
    package internal(set) var accepted: Projection
    /// The state after the durable events only: what readers and phones see. Nil until a first
    /// start is durable.
    package internal(set) var durable: Projection?
    /// The newest durable event: `seq` is its place in the log, `tenantSeq` that in its tenant.
    package internal(set) var seq: Int64
    package internal(set) var tenantSeq: Int64
    /// Alerts that must still be sent to some destinations, oldest first.
    package internal(set) var alerts: [Projection.PendingAlert] = []
    /// Alerts of events that are not durable yet. A head that is written with these events must
    /// contain them.
    package internal(set) var comingAlerts: [Projection.PendingAlert] = []
    /// First version of the accepted incarnation, if a later start began it in this process; else
    /// 0. Heads leave out alerts of older versions.
    package internal(set) var beganAt: Int64 = 0
    var destinations: SlotList<Tables.Cards> = []
    /// The entry of `destinations` for the activity's own channel. It may be of an earlier
    /// incarnation.
    var channelDestination: CardSlot?
    /// The latest versions whose updates changed nothing: their `state_version` was too old.
    package internal(set) var superseded: [Int64] = []
    static let supersededMax = 64
    /// Traces of the newest events that have one, oldest first; nil if no event has one.
    @Seldom var traces: [VersionTrace]? = nil
    var hasTraces: Bool { _traces.isThere }
    /// The lives before this one, oldest first; nil if it is the first.
    @Seldom var lives: [EarlierLife]? = nil
    var hasLives: Bool { _lives.isThere }
    /// True if `ActivityTable` counts the activity as running.
    var isCounted = false
    /// The incarnation of `durable`.
    package internal(set) var durableIncarnation: Int64
    /// The definition of the durable incarnation, while a later start is accepted but not durable;
    /// else nil.
    private var former: DefinitionBox?

    /// An activity that starts now.
    init(
        key: ActivityKey, number: ActivityNumber, _ definition: Definition,
        _ projection: Projection
    ) {
        self.key = key
        self.number = number
        definitionBox = DefinitionBox(definition)
        incarnation = 1
        accepted = projection
        seq = 0
        tenantSeq = 0
        durableIncarnation = 0
    }

    package internal(set) var definition: Definition {
        _read { yield definitionBox.value }
        set { definitionBox = DefinitionBox(newValue) }
    }

    var headState: HeadState { HeadState(of: self) }

    package var reference: ActivityReference {
        ActivityReference(id: key.id, incarnation: incarnation)
    }

    package var hasEnded: Bool { accepted.ending != nil }

    /// The definition of the durable incarnation. Readers use it, because a later start must stay
    /// invisible until it is durable.
    var durableDefinition: Definition { former?.value ?? definition }

    /// True if a later start is accepted but not durable yet.
    var isToBeginAnew: Bool { durable != nil && incarnation != durableIncarnation }

    /// Accepts a start that begins a new incarnation.
    mutating func accept(
        _ next: Definition, incarnation number: Int64, _ projection: Projection
    ) {
        if former == nil { former = definitionBox }
        rememberLife(at: projection.changedAt)
        definition = next
        incarnation = number
        accepted = projection
        comingAlerts = []
        beganAt = projection.version
    }

    /// Records that the start of incarnation `number`, with the definition `start`, is durable.
    mutating func began(_ start: Definition?, incarnation number: Int64) {
        durableIncarnation = number
        former = number == incarnation ? nil : start.map { DefinitionBox($0) }
    }

    /// Forgets the earlier definition when no accepted start waits for the log any more.
    mutating func settle() { former = nil }
}

extension Activity {
    /// True if the incarnation in `reference` is shown through a broadcast channel now: the
    /// audience is a channel, and the incarnation is durable and has not ended.
    func isOnChannel(_ reference: ActivityReference) -> Bool {
        guard definition.isOnChannel, let durable, durable.ending == nil else { return false }
        return reference.incarnation == durableIncarnation
    }

    /// When the activity ends by itself if the producer's last event was at `instant`; nil if it
    /// has ended already or has no `endAfter`.
    func endsBySilence(since instant: Instant) -> Instant? {
        hasEnded ? nil : definition.endAfter.map { instant + $0 }
    }
}
