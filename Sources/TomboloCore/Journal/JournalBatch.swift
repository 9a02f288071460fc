/// Changes that become durable together, and the requests that wait for them.
struct JournalBatch: Sendable {
    /// An accepted event, with the changes that follow when it is durable.
    struct Event: Sendable {
        var event: NewEvent
        var activity: ActivitySlot
        var incarnation: Int64
        var projection: Projection
        var content: Command.Content
        var definition: Activity.Definition?
        var plan: (clip: Clip, payloadBytes: Int)?
        /// How many destinations and timelines the commit must examine for the event; one less if
        /// the batch has an earlier event of the activity.
        var weight = 1
        var lint: [Lint] = []
    }

    /// An ended activity to retire if it still has this version when the batch is written.
    struct Retired: Sendable {
        var slot: ActivitySlot
        var version: Int64
        var activity: RetiredActivity
    }

    /// A destination that waits for the batch. When the batch is durable, the slot may belong to
    /// another destination, so the number is compared.
    struct Reservation: Sendable {
        var slot: CardSlot
        var destination: Int64
    }

    /// A token from a device's request. `number` identifies the device, because its slot may be
    /// reused.
    struct Token: Sendable {
        var device: DeviceSlot
        var number: Int64
        var reference: ActivityReference
        var value: PushToken
    }

    /// How to answer a ticket when its batch is durable.
    enum Waiting: Sendable {
        case event(index: Int, Ticket)
        case events(indices: [Int], Ticket)
        /// The request changed nothing. The present state must be durable before the answer.
        case standing(activity: ActivitySlot, EventKind, Ticket)
    }

    var events: [Event] = []
    var bodyBytes = 0
    var weight = 0
    /// Activities with events in the batch, to count their cards only once.
    var weighed: Set<ActivitySlot> = []
    /// The same, in the order of their first events.
    var changed: [ActivitySlot] = []
    var waiting: [Waiting] = []
    var stored: [(Ticket, Stored)] = []
    var touched: [ActivitySlot] = []
    /// Activities whose heads have changed by more than their events.
    var rewritten: Set<ActivitySlot> = []
    var facts: [NewFact] = []
    var records: [Record] = []
    var retired: [Retired] = []
    /// Reloads that must follow when the batch is durable.
    var owed: [OwedReload] = []
    /// Destinations whose pushes wait until their reservations are durable.
    var reservations: [Reservation] = []
    var dirtyCheckpoints: [CardSlot] = []
    /// Outdated checkpoints that go with the next batch, at the latest soon.
    var lateCheckpoints: [CardSlot] = []
    /// Outdated checkpoints that lack only a sent update, as most do under load. They may wait
    /// longer.
    var lazyCheckpoints: [CardSlot] = []
    /// Those of them whose flush has begun. Late ones go before them.
    var flushedCheckpoints: [CardSlot] = []
    /// Widgets and controls whose pushes wait until their reservations are durable.
    var surfaceReservations: [SurfaceSlot] = []
    /// When a flush begins even if nothing is urgent.
    var flushAt: Instant?
    /// When a flush goes on that is too large for one batch. What changes meanwhile waits for the
    /// next flush: under load it would never end.
    var restAt: Instant?
    /// When facts are written even if nothing is urgent, because a reader waits for them.
    var factsAt: Instant?
    /// Destinations whose pushes wait for a durable reading of the clock.
    var clockWaits: [Reservation] = []
    /// Destinations whose ends wait until the replacing card is durable.
    var successions: [Reservation] = []
    /// Update tokens that pushes may use when they are durable.
    var tokens: [Token] = []

    /// When the batch is written even if nothing in it is urgent.
    var dueAt: Instant? {
        Instant.earlier(flushAt, restAt).map { min($0, factsAt ?? $0) }
    }

    /// True if a request or an attempt waits for the batch.
    var isUrgent: Bool {
        !events.isEmpty || !stored.isEmpty || !reservations.isEmpty || !waiting.isEmpty
            || !surfaceReservations.isEmpty || !clockWaits.isEmpty || !successions.isEmpty
            || flushAt == .distantPast
    }

    var isEmpty: Bool {
        !isUrgent && facts.isEmpty && records.isEmpty && dirtyCheckpoints.isEmpty
            && lateCheckpoints.isEmpty && lazyCheckpoints.isEmpty && flushedCheckpoints.isEmpty
            && retired.isEmpty
    }
}
