package import TomboloJSON

/// One activity in memory: who it is, what was accepted, what is durable, and where it is shown.
package struct Activity: Sendable {
    /// What a start says for the whole life of an incarnation.
    package struct Definition: Sendable {
        package var type: String
        package var app: String
        package var audience: Audience
        package var route: StartRoute
        /// With the activity's id written in.
        package var attributes: JSON
        package var onUnknownStart: UnknownStartPolicy
        /// A start that has waited longer on a device is not sent any more (pacing rule 5).
        package var startWait = Start.startWaitDefault
        /// The relay ends it so long after its last event; nil: never.
        package var endAfter: Span?
        package var onTokenGone = TokenGonePolicy.stop
        package var renew = RenewalPolicy.never
        package var startedAt: Instant
        package var framesShowWhen = FramesShowWhen.background
        /// The start's own fields, for telling an equal start from a different one.
        package var digest: UInt64
    }

    /// A definition in memory of its own: copies of an activity, its snapshot and its events share
    /// it, and count one reference.
    final class DefinitionBox: Sendable {
        let value: Definition
        init(_ value: Definition) { self.value = value }
    }

    package let key: ActivityKey
    package let number: ActivityNumber
    package internal(set) var incarnation: Int64
    var definitionBox: DefinitionBox
    /// Follows every accepted event at once. Should the log fail, the relay stops: nothing is ever
    /// rolled back.
    package internal(set) var accepted: Projection
    /// Follows only what is on disk: what readers and phones see. Nil until the first start is.
    package internal(set) var durable: Projection?
    /// Of its newest durable event: in the log, and among the events of its tenant.
    package internal(set) var seq: Int64
    package internal(set) var tenantSeq: Int64
    /// Alerts not yet served everywhere, oldest first.
    package internal(set) var alerts: [Projection.PendingAlert] = []
    /// Those of events that are not durable yet; heads are written before they are.
    package internal(set) var comingAlerts: [Projection.PendingAlert] = []
    /// Where the accepted incarnation began, if it did in this run: older alerts are not its own.
    package internal(set) var beganAt: Int64 = 0
    var destinations: SlotList<Tables.Cards> = []
    /// Of those, the channel that its cards listen on, if any; it may be a former incarnation's.
    var channelDestination: CardSlot?
    /// The newest versions that came with an older `state_version` than was known.
    package internal(set) var superseded: [Int64] = []
    static let supersededMax = 64
    /// Traces that its newest events came with, oldest first; nil: none came with one.
    @Seldom var traces: [VersionTrace]? = nil
    var hasTraces: Bool { _traces.isThere }
    /// `Core.population` has it among those that run.
    var isCounted = false
    /// The incarnation that `durable` belongs to.
    package internal(set) var durableIncarnation: Int64
    /// What the durable incarnation's start said, while a later start is on its way to the disk.
    private var former: DefinitionBox?

    /// One that begins now.
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

    /// Whom the durable incarnation is for, and of which app: of a later start nobody is to see
    /// anything before it is durable.
    var durableDefinition: Definition { former?.value ?? definition }

    /// Whether a later start is accepted than is durable.
    var isToBeginAnew: Bool { durable != nil && incarnation != durableIncarnation }

    /// A later start is accepted.
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

    /// A start is durable.
    mutating func began(_ start: Definition?, incarnation number: Int64) {
        durableIncarnation = number
        former = number == incarnation ? nil : start.map { DefinitionBox($0) }
    }

    /// Nothing of it is on its way.
    mutating func settle() { former = nil }
}

extension Activity {
    /// Whether a card of that name shows it that listens on its broadcast channel.
    func isOnChannel(_ reference: ActivityReference) -> Bool {
        guard case .channel = definition.audience, let durable, durable.ending == nil else {
            return false
        }
        return reference.incarnation == durableIncarnation
    }

    /// When it ends by itself if its producer, who spoke at that time, says nothing more.
    func endsBySilence(since instant: Instant) -> Instant? {
        hasEnded ? nil : definition.endAfter.map { instant + $0 }
    }
}
