package import TomboloCore

/// A head as it comes back.
package struct RecoveredHead: Hashable, Sendable {
    package var activity: ActivityNumber
    package var version: Int64
    /// Of its newest event: in the log, and among those of its tenant.
    package var seq: Int64
    package var tenantSeq: Int64
    package var value: [UInt8]

    /// - Parameter tenantSeq: nil where the log has had no other tenant.
    package init(
        activity: ActivityNumber, version: Int64, seq: Int64, tenantSeq: Int64? = nil,
        value: [UInt8]
    ) {
        self.activity = activity
        self.version = version
        self.seq = seq
        self.tenantSeq = tenantSeq ?? seq
        self.value = value
    }
}

/// All that a relay needs to go on where the last one stopped. Its size is that of what lives, not
/// of history.
package struct RecoveredLog: Sendable {
    package var lastSeq: Int64 = 0
    package var lastFactSeq: Int64 = 0
    /// The newest event and fact of each tenant that has one, among its own.
    package var places: [TenantID: LogPlace] = [:]
    /// The highest activity number that has a head, a damaged one's too: numbers above it are free.
    package var lastActivity: Int64 = 0
    package var heads: [RecoveredHead] = []
    /// Activities that cannot be followed to their newest event. They take no more.
    package var damaged: [DamagedActivity] = []
    /// When this log was put back from a backup. What came between the backup and then is gone from
    /// the log, but phones may have had it.
    package var restoredAt: Instant?
    /// Some activities are retired: they are asked for by name or number.
    package var hasRetired = false
    package var records: [Record] = []
    /// Keys still within their 24 hours, by the hour.
    package var idempotency = RecoveredKeys()
    /// One line for each other row whose checksum is wrong: set aside, never projected, never
    /// pushed.
    package var damage: [String] = []

    package init() {}
}

/// A page of the log, oldest first.
package struct EventQuery: Hashable, Sendable {
    /// Rows of this tenant only; there is no way to ask for all.
    package var tenant: TenantID
    /// Events after this place among those of the tenant.
    package var after: Int64 = 0
    /// Where `after` is in the log, as the caller knows it: what the log would have to find else.
    /// No event of the tenant lies between.
    package var place: Int64?
    /// The tenant's newest event among its own, as the caller knows it: nothing is looked for
    /// behind it.
    package var through: Int64?
    package var activity: ActivityNumber?
    /// An event of that activity near its newest, as the caller knows it: what the log would have
    /// to find else.
    package var newest: Int64?
    package var kind: EventKind?
    /// Recorded then or later.
    package var from: Instant?
    /// Recorded before.
    package var until: Instant?
    /// 1 to 1,000.
    package var limit: Int = 100
    /// With bodies of so many bytes a page ends, behind its first event at the earliest: 1,000
    /// events may have 64 MB.
    package var bytesMax: Int = 1 << 20
    /// At most this many events of the tenant are looked at; a page may come back short, with
    /// `next` set. Those of others do not count: a short page would tell of them.
    package var scanMax: Int = 100_000

    package init(tenant: TenantID) { self.tenant = tenant }

    /// Whether an event of that kind and time is asked for.
    package func matches(_ kind: EventKind, recordedAt: Instant) -> Bool {
        (self.kind.map { $0 == kind } ?? true) && (from.map { $0 <= recordedAt } ?? true)
            && (until.map { recordedAt < $0 } ?? true)
    }
}

/// Events of one page.
package struct EventPage: Sendable {
    package var events: [RecordedEvent]
    /// Places among the tenant's events at which a row is that cannot be read; rising.
    package var damaged: [ClosedRange<Int64>] = []
    /// Of their bodies.
    package private(set) var bytes = 0
    /// Where to go on (`after`); nil only at the end of the tenant's events as it was when asked.
    package var next: Int64?

    package init(events: [RecordedEvent], next: Int64?) {
        self.events = events
        self.next = next
    }

    /// Adds the next one.
    package mutating func append(_ event: RecordedEvent) {
        bytes += event.event.body.count
        events.append(event)
    }

    /// Whether it takes no more events.
    package func isFull(_ query: EventQuery) -> Bool {
        events.count >= query.limit || bytes >= query.bytesMax
    }
}

/// A moment of a log's past.
package enum LogMoment: Hashable, Sendable {
    /// Events recorded up to then.
    case instant(Instant)
    /// Events up to this place among those of the tenant.
    case tenantSeq(Int64)

    /// Whether an event had happened by then.
    package func includes(tenantSeq: Int64, recordedAt: Instant) -> Bool {
        switch self {
        case .instant(let instant): recordedAt <= instant
        case .tenantSeq(let last): tenantSeq <= last
        }
    }
}

/// Why the log did not do what it was asked.
package enum EventLogError: Error, Hashable, Sendable {
    /// Nothing was stored: the activity stands at another version.
    case versionConflict(activity: ActivityNumber, expected: Int64, actual: Int64)
    /// Nothing was stored: the key is there already, at this sequence.
    case duplicateKey(IdempotencyKey, seq: Int64)
    /// Nothing was stored: no room; `hint` says what to do.
    case full(hint: String)
    /// It may be stored or not. The relay must stop and recover; this log takes nothing more.
    case outcomeUnknown(cause: String)
    /// It cannot be opened or read; `hint` says what to do.
    case unusable(cause: String, hint: String)
    /// It was closed.
    case closed
}

/// The log's contract: events in one order, durable when `append` returns, and the few current
/// values that make a start-up independent of history.
///
/// What it guarantees: a batch is stored whole or not at all; `append` returns after it is durable;
/// sequences have no gap, and the places of each tenant's own events have none; per activity the
/// versions are 1, 2, 3 …; batches become durable in the order in which they were handed over. What
/// it does not: it knows no rules of activities, and never looks into a body.
///
/// ```swift
/// var batch = AppendBatch()
/// batch.events = [event]
/// let receipt = try await log.append(batch)  // durable from here on
/// let events = try await log.history(after: receipt.firstSeq - 1, limit: 100)
/// ```
package protocol EventLog: Sendable {
    /// Stores a batch. Each activity that its events touch has a head in it, and belongs to one
    /// tenant for ever; anything else is a bug of the caller and traps. An idempotency key is taken
    /// for 24 hours (`IdempotencyKey.window`), counted from the event that brought it on the clock
    /// that nobody sets (`recordedAt` without the batch's `lead`). One at a time is how the relay
    /// calls it, but several may wait: they commit in order.
    func append(_ batch: AppendBatch) async throws(EventLogError) -> AppendReceipt

    /// Reads what start-up needs; called once, before the first append. Keys recorded before
    /// the hour of `idempotencySince` (on the same clock) are left out (and may be deleted).
    func recover(idempotencySince: Instant) async throws(EventLogError) -> RecoveredLog

    /// Reads a page. Of damaged rows it says where they are, as far as the query looks at all rows:
    /// one by kind, time or activity passes over what it does not need. The last ones are known
    /// where the query says `through`.
    func events(_ query: EventQuery) async throws(EventLogError) -> EventPage

    /// One event, or nil where there is none of this tenant's with that sequence.
    func event(seq: Int64, tenant: TenantID) async throws(EventLogError) -> RecordedEvent?

    /// The event at that place among those of the tenant, or nil where there is none.
    func event(tenantSeq: Int64, tenant: TenantID) async throws(EventLogError) -> RecordedEvent?

    /// Retired activities of these names: the newest of each that has one, in no order.
    func retired(named keys: [ActivityKey]) async throws(EventLogError) -> [RecoveredHead]

    /// The retired activity of that number; nil where there is none, or it is another tenant's.
    func retired(
        _ activity: ActivityNumber, tenant: TenantID
    ) async throws(EventLogError) -> RecoveredHead?

    /// A head of that activity as it was at or before a moment, from which its events lead on to
    /// the moment itself; nil where the log keeps none, and all of its events are to be followed.
    /// `newest` as in `EventQuery`.
    func snapshot(
        of activity: ActivityNumber, tenant: TenantID, at moment: LogMoment, newest: Int64
    ) async throws(EventLogError) -> RecoveredHead?

    /// Events of all tenants in order, for verification and rebuilding only.
    func history(after seq: Int64, limit: Int) async throws(EventLogError) -> [RecordedEvent]

    /// Reads a page of facts; damaged rows are left out.
    func facts(_ query: FactQuery) async throws(EventLogError) -> FactPage

    /// Erases, leaving tombstones: what happened when stays, what was said does not. An erased
    /// event has no body and no key, an erased fact the body `{}`; an erased activity has an empty
    /// head and no name. May be repeated; one that was cut short is.
    func erase(_ erasure: LogErasure) async throws(EventLogError) -> LogErased

    /// Whether events may come. Where it is false the relay refuses them, and goes on with what it
    /// has: marks and facts find room for a while.
    var hasRoom: Bool { get }

    /// A line for each damaged row that reads have met; it never gets shorter.
    var damage: [String] { get }

    /// Finishes what was handed over, then takes nothing more.
    func close() async
}

extension EventLog {
    /// A log without a disk of its own has room.
    package var hasRoom: Bool { true }

    package var damage: [String] { [] }

    /// One that only hands on to another log may leave this out: nobody erases through it.
    package func erase(_ erasure: LogErasure) async throws(EventLogError) -> LogErased {
        throw .unusable(
            cause: "this log cannot erase", hint: "erase through a relay with a log of its own")
    }

    /// The fact at that place among those of the tenant, or nil where there is none.
    package func fact(
        tenantSeq: Int64, tenant: TenantID
    ) async throws(EventLogError) -> RecordedFact? {
        guard tenantSeq > 0, tenantSeq < .max else { return nil }
        var query = FactQuery(tenant: tenant)
        (query.after, query.before, query.limit) = (tenantSeq - 1, tenantSeq + 1, 1)
        return try await facts(query).facts.first
    }

    /// A log whose past is short keeps none.
    package func snapshot(
        of activity: ActivityNumber, tenant: TenantID, at moment: LogMoment, newest: Int64
    ) async throws(EventLogError) -> RecoveredHead? { nil }
}
