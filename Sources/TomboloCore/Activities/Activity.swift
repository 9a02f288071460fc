package import TomboloJSON

/// One activity in memory: identity, accepted state, durable state, and destinations.
package struct Activity: Sendable {
    /// The part of a start that holds for the whole incarnation.
    package struct Definition: Sendable {
        package var type: String
        package var app: String
        package var audience: Audience
        package var route: StartRoute
        /// The attributes, including the activity's id.
        package var attributes: JSON
        package var onUnknownStart: UnknownStartPolicy
        /// Longest wait of a start on a device, after which it is dropped (pacing rule 5).
        package var startWait = Start.startWaitDefault
        /// How long after its last event the relay ends the activity; nil: never.
        package var endAfter: Span?
        package var onTokenGone = TokenGonePolicy.stop
        package var renew = RenewalPolicy.never
        package var startedAt: Instant
        package var framesShowWhen = FramesShowWhen.background
        /// A digest of the start's own fields, to compare starts.
        package var digest: UInt64
    }

    /// Shares one definition between copies of an activity, its snapshot and its events, for the
    /// cost of one reference count.
    final class DefinitionBox: Sendable {
        let value: Definition
        init(_ value: Definition) { self.value = value }
    }

    package let key: ActivityKey
    package let number: ActivityNumber
    package internal(set) var incarnation: Int64
    var definitionBox: DefinitionBox
    /// Follows every accepted event at once. It is never rolled back: if the log fails, the relay
    /// stops.
    package internal(set) var accepted: Projection
    /// Follows only durable events, for readers and phones. Nil until a first start is durable.
    package internal(set) var durable: Projection?
    /// Place of the newest durable event: in the log, and among the events of its tenant.
    package internal(set) var seq: Int64
    package internal(set) var tenantSeq: Int64
    /// Alerts that some destinations still wait for, oldest first.
    package internal(set) var alerts: [Projection.PendingAlert] = []
    /// Alerts of events that are not durable yet. Heads with these events are written before.
    package internal(set) var comingAlerts: [Projection.PendingAlert] = []
    /// First version of the accepted incarnation if it began in this run, else 0: see `alerts`.
    package internal(set) var beganAt: Int64 = 0
    var destinations: SlotList<Tables.Cards> = []
    /// The one of `destinations` that is the cards' channel, perhaps a former incarnation's.
    var channelDestination: CardSlot?
    /// The newest versions whose `state_version` was older than the newest known one.
    package internal(set) var superseded: [Int64] = []
    static let supersededMax = 64
    /// Traces of the newest events that have one, oldest first; nil: none has.
    @Seldom var traces: [VersionTrace]? = nil
    var hasTraces: Bool { _traces.isThere }
    /// True if `Core.population` counts it as running.
    var isCounted = false
    /// The incarnation of `durable`.
    package internal(set) var durableIncarnation: Int64
    /// The definition of the durable incarnation while a later start is being written.
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

    var snapshot: ActivitySnapshot { ActivitySnapshot(of: self) }

    package var reference: ActivityReference {
        ActivityReference(id: key.id, incarnation: incarnation)
    }

    package var hasEnded: Bool { accepted.ending != nil }

    /// The definition of the durable incarnation. A later start must not be visible before it is
    /// durable.
    var durableDefinition: Definition { former?.value ?? definition }

    /// True if a later start is accepted but not durable yet.
    var isToBeginAnew: Bool { durable != nil && incarnation != durableIncarnation }

    /// Accepts a later start.
    mutating func accept(
        _ next: Definition, incarnation number: Int64, _ projection: Projection
    ) {
        if former == nil { former = definitionBox }
        definition = next
        incarnation = number
        accepted = projection
        comingAlerts = []
        beganAt = projection.version
    }

    /// Notes that a start is durable.
    mutating func began(_ start: Definition?, incarnation number: Int64) {
        durableIncarnation = number
        former = number == incarnation ? nil : start.map { DefinitionBox($0) }
    }

    /// Notes that no start is being written any more.
    mutating func settle() { former = nil }
}

extension Activity {
    /// True if the card with that name shows the activity through its broadcast channel.
    func isOnChannel(_ reference: ActivityReference) -> Bool {
        guard case .channel = definition.audience, let durable, durable.ending == nil else {
            return false
        }
        return reference.incarnation == durableIncarnation
    }

    /// When the activity ends by itself if the producer's last event was at `instant`; nil: never.
    func endsBySilence(since instant: Instant) -> Instant? {
        hasEnded ? nil : definition.endAfter.map { instant + $0 }
    }
}
