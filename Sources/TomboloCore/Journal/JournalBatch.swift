/// Changes that become durable together, and the requests that wait for them.
struct JournalBatch: Sendable {
    /// An accepted event, with the changes to make when it is durable.
    struct Event: Sendable {
        var event: NewEvent
        var activity: ActivitySlot
        var incarnation: Int64
        var projection: Projection
        var content: Command.Content
        var definition: Activity.Definition?
        var plan: (clip: Clip, payloadBytes: Int)?
        /// What its commit must examine: its destinations, and the timelines that show it; one less
        /// if the activity has an earlier event in the batch.
        var weight = 1
        /// Warnings about the command.
        var lint: [Lint] = []
    }

    /// An ended activity to retire, if it still has this `version` then.
    struct Retired: Sendable {
        var slot: ActivitySlot
        var version: Int64
        var activity: RetiredActivity
    }

    /// A destination whose attempt waits for the batch. By then its slot may belong to another
    /// destination, whose own reservation is in a later batch.
    struct Reservation: Sendable {
        var slot: CardSlot
        var destination: Int64
    }

    /// A token in a device's request; the number identifies the device.
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
        /// Nothing changed, but the existing state must be durable before the answer.
        case standing(activity: ActivitySlot, EventKind, Ticket)
    }

    var events: [Event] = []
    /// Bytes of the events' bodies.
    var bodyBytes = 0
    /// Sum of the events' weights.
    var weight = 0
    /// Activities with events in the batch.
    var weighed: Set<ActivitySlot> = []
    var waiting: [Waiting] = []
    var stored: [(Ticket, Stored)] = []
    var touched: [ActivitySlot] = []
    /// Those of `touched` whose heads changed by more than their events.
    var rewritten: Set<ActivitySlot> = []
    var facts: [NewFact] = []
    var records: [Record] = []
    var retired: [Retired] = []
    /// Reloads that follow when the batch is durable.
    var owed: [OwedReload] = []
    /// Destinations whose attempts wait for their reservations.
    var reservations: [Reservation] = []
    var dirtyMarks: [CardSlot] = []
    /// Checkpoints that are outdated: they go with the next batch, or soon without one.
    var lateMarks: [CardSlot] = []
    /// Checkpoints that only lack sent updates, as most under load: written soon.
    var lazyMarks: [CardSlot] = []
    /// Widgets and controls whose attempts wait for their reservations.
    var surfaceReservations: [SurfaceSlot] = []
    /// When late checkpoints and facts are written even if nothing urgent is pending.
    var flushAt: Instant?
    /// When facts are written even if nothing urgent is pending: a reader waits for them.
    var factsAt: Instant?
    /// Destinations whose pushes wait for a newer reading of the clock.
    var clockWaits: [Reservation] = []
    /// Destinations whose ends wait until the successor of their card is durable.
    var successions: [Reservation] = []
    /// Update tokens that become usable for pushes when they are durable.
    var tokens: [Token] = []

    /// When the batch is written even if nothing in it is urgent.
    var dueAt: Instant? { flushAt.map { min($0, factsAt ?? $0) } }

    /// True if a request or an attempt waits for the batch.
    var isUrgent: Bool {
        !events.isEmpty || !stored.isEmpty || !reservations.isEmpty || !waiting.isEmpty
            || !surfaceReservations.isEmpty || !clockWaits.isEmpty || !successions.isEmpty
            || flushAt == .distantPast
    }

    var isEmpty: Bool {
        !isUrgent && facts.isEmpty && records.isEmpty && dirtyMarks.isEmpty
            && lateMarks.isEmpty && lazyMarks.isEmpty && retired.isEmpty
    }
}
