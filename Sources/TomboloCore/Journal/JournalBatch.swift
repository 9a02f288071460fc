/// What becomes durable together, and who waits for it.
struct JournalBatch: Sendable {
    /// An accepted event: what becomes true when it is durable.
    struct Event: Sendable {
        var event: NewEvent
        var activity: ActivitySlot
        var incarnation: Int64
        var projection: Projection
        var content: Command.Content
        var definition: Activity.Definition?
        var plan: (clip: Clip, payloadBytes: Int)?
        /// How much its commit has to look at: its destinations, and the timelines that show it;
        /// one less where the activity has another event in the batch before it.
        var weight = 1
        /// What was seen coming when it was taken.
        var lint: [Lint] = []
    }

    /// An ended activity that leaves, if it still stands at `version` then.
    struct Retired: Sendable {
        var slot: ActivitySlot
        var version: Int64
        var activity: RetiredActivity
    }

    /// A destination whose attempt waits for the batch. Its slot may be another's by then, whose
    /// own reservation comes with a later batch.
    struct Reservation: Sendable {
        var slot: CardSlot
        var destination: Int64
    }

    /// A token as a device has told of it, by the device's number.
    struct Token: Sendable {
        var device: DeviceSlot
        var number: Int64
        var reference: ActivityReference
        var value: PushToken
    }

    /// How a ticket is answered when its batch is durable.
    enum Waiting: Sendable {
        case event(index: Int, Ticket)
        case events(indices: [Int], Ticket)
        /// Nothing new, but what stands so already must be durable first.
        case standing(activity: ActivitySlot, EventKind, Ticket)
    }

    var events: [Event] = []
    /// Of the events' bodies.
    var bodyBytes = 0
    /// Of the events.
    var weight = 0
    /// Activities that have events.
    var weighed: Set<ActivitySlot> = []
    var waiting: [Waiting] = []
    var stored: [(Ticket, Stored)] = []
    var touched: [ActivitySlot] = []
    /// Of these, activities whose heads changed by more than their events.
    var rewritten: Set<ActivitySlot> = []
    var facts: [NewFact] = []
    var records: [Record] = []
    var retired: [Retired] = []
    /// Reloads that follow when the batch is durable.
    var owed: [OwedReload] = []
    /// Destinations whose attempt waits for its reservation.
    var reservations: [Reservation] = []
    var dirtyMarks: [CardSlot] = []
    /// Marks that are behind: they come with the next batch, or soon without one.
    var lateMarks: [CardSlot] = []
    /// Marks that have nothing new but that updates went, as most marks under load: soon.
    var lazyMarks: [CardSlot] = []
    /// The same of widgets and controls.
    var surfaceReservations: [SurfaceSlot] = []
    /// When lazily kept marks and facts are written although nothing urgent is.
    var flushAt: Instant?
    /// When facts are written although nothing urgent is: somebody waits for them.
    var factsAt: Instant?
    /// Destinations whose push waits for a newer reading of the clock.
    var clockWaits: [Reservation] = []
    /// Destinations whose end waits until it is on record that their card has a successor.
    var successions: [Reservation] = []
    /// Update tokens that pushes may go to when they are durable.
    var tokens: [Token] = []

    /// When it goes although nothing in it is urgent.
    var dueAt: Instant? { flushAt.map { min($0, factsAt ?? $0) } }

    /// Whether somebody waits.
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
