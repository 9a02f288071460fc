package import TomboloCore

/// A head that was read from the log: its position and its encoded bytes.
package struct RecoveredHead: Hashable, Sendable {
    package var activity: ActivityNumber
    package var version: Int64
    /// Sequence of the activity's newest event: in the log, and among the tenant's events.
    package var seq: Int64
    package var tenantSeq: Int64
    package var value: [UInt8]

    /// - Parameter tenantSeq: nil means that it equals `seq`, because the log had one tenant only.
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

/// The state from which a relay continues. Its size depends on live activities, not on history.
package struct RecoveredLog: Sendable {
    package var lastSeq: Int64 = 0
    package var lastFactSeq: Int64 = 0
    /// Place of each tenant's newest event and fact, among the tenant's own.
    package var places: [TenantID: LogPlace] = [:]
    /// The highest activity number with a head, even a damaged one. Higher numbers are free.
    package var lastActivity: Int64 = 0
    package var heads: [RecoveredHead] = []
    /// Activities whose newest state cannot be read. They accept no more events.
    package var damaged: [DamagedActivity] = []
    /// When this log was restored from a backup; nil if never. Events between backup and restore
    /// are missing in the log, but phones may have received them.
    package var restoredAt: Instant?
    /// True if there are retired activities. Look them up by name or number.
    package var hasRetired = false
    package var records: [Record] = []
    /// Idempotency keys of the last 24 hours, grouped by hour.
    package var idempotency = RecoveredKeys()
    /// One line for each other damaged row. Such rows are not used.
    package var damage: [String] = []

    package init() {}
}

/// A query for a page of events, oldest first.
package struct EventQuery: Hashable, Sendable {
    /// Only events of this tenant are returned; there is no query for all tenants.
    package var tenant: TenantID
    /// Only events after this place among the tenant's events.
    package var after: Int64 = 0
    /// A sequence of the log that corresponds to `after`, if the caller knows it. It saves a
    /// search. No event of the tenant after place `after` may be at or before it.
    package var place: Int64?
    /// Place of the tenant's newest event, if the caller knows it: the search ends there.
    package var through: Int64?
    package var activity: ActivityNumber?
    /// Sequence of an event near the activity's newest one, if known. It saves a search.
    package var newest: Int64?
    package var kind: EventKind?
    /// Only events recorded at or after this time.
    package var from: Instant?
    /// Only events recorded before this time.
    package var until: Instant?
    /// Maximum number of events in a page: 1 to 1,000.
    package var limit: Int = 100
    /// A page ends once its bodies have this many bytes, but has at least one event.
    package var bytesMax: Int = 1 << 20
    /// Maximum number of the tenant's events that are examined. If it is reached, the page is short
    /// and `next` is set. Other tenants' events do not count, because a short page would reveal
    /// that they exist.
    package var scanMax: Int = 100_000

    package init(tenant: TenantID) { self.tenant = tenant }

    /// True if an event of this kind and time matches the query.
    package func matches(_ kind: EventKind, recordedAt: Instant) -> Bool {
        (self.kind.map { $0 == kind } ?? true) && (from.map { $0 <= recordedAt } ?? true)
            && (until.map { recordedAt < $0 } ?? true)
    }
}

/// One page of events.
package struct EventPage: Sendable {
    package var events: [RecordedEvent]
    /// Places among the tenant's events whose rows are damaged, rising.
    package var damaged: [ClosedRange<Int64>] = []
    /// Bytes of the events' bodies.
    package private(set) var bytes = 0
    /// Value of `after` for the next page. Nil only at the end of the tenant's events.
    package var next: Int64?

    package init(events: [RecordedEvent], next: Int64?) {
        self.events = events
        self.next = next
    }

    /// Adds the next event.
    package mutating func append(_ event: RecordedEvent) {
        bytes += event.event.body.count
        events.append(event)
    }

    /// True if the page takes no more events.
    package func isFull(_ query: EventQuery) -> Bool {
        events.count >= query.limit || bytes >= query.bytesMax
    }
}

/// A past moment in a log.
package enum LogMoment: Hashable, Sendable {
    /// Includes events recorded up to this time.
    case instant(Instant)
    /// Includes events up to this place among the tenant's events.
    case tenantSeq(Int64)

    /// True if an event had happened by this moment.
    package func includes(tenantSeq: Int64, recordedAt: Instant) -> Bool {
        switch self {
        case .instant(let instant): recordedAt <= instant
        case .tenantSeq(let last): tenantSeq <= last
        }
    }
}

/// Why a call of the log failed.
package enum EventLogError: Error, Hashable, Sendable {
    /// Nothing was stored, because the activity has another version.
    case versionConflict(activity: ActivityNumber, expected: Int64, actual: Int64)
    /// Nothing was stored, because an event with this key exists, at this sequence.
    case duplicateKey(IdempotencyKey, seq: Int64)
    /// Nothing was stored, because there is no space. `hint` has the remedy.
    case full(hint: String)
    /// It is unknown whether the batch was stored. The relay must stop and recover; the log accepts
    /// nothing more.
    case outcomeUnknown(cause: String)
    /// The log cannot be opened or read. `hint` has the remedy.
    case unusable(cause: String, hint: String)
    /// The log was closed.
    case closed
}

/// The log's contract: events in one order, durable when `append` returns, and the current values
/// that make a start-up independent of history.
///
/// Guarantees: a batch is stored whole or not at all, and `append` returns after it is durable.
/// Sequences have no gaps, nor have the places of each tenant's events. An activity's versions are
/// 1, 2, 3 … Batches become durable in the order of their calls. The log knows no rules of
/// activities and never reads a body.
///
/// ```swift
/// var batch = AppendBatch()
/// batch.events = [event]
/// let receipt = try await log.append(batch)  // durable from here on
/// let events = try await log.history(after: receipt.firstSeq - 1, limit: 100)
/// ```
package protocol EventLog: Sendable {
    /// Stores a batch. The batch must contain a head for each activity that has events in it, and
    /// an activity must always have the same tenant; otherwise it traps. An idempotency key counts
    /// for 24 hours (`IdempotencyKey.window`) from its event, on the steady clock (`recordedAt`
    /// minus the batch's `lead`). Several calls may wait at once; they are committed in order.
    func append(_ batch: AppendBatch) async throws(EventLogError) -> AppendReceipt

    /// Reads what start-up needs. Call it once, before the first append. Idempotency keys from
    /// before the hour of `idempotencySince` (on the steady clock) are left out and may be deleted.
    func recover(idempotencySince: Instant) async throws(EventLogError) -> RecoveredLog

    /// Reads a page. Reports the damaged rows among those that it examines; queries by kind, time
    /// or activity skip others. Damaged rows at the end are noticed only with `through`.
    func events(_ query: EventQuery) async throws(EventLogError) -> EventPage

    /// The event with this sequence; nil if there is none or it belongs to another tenant.
    func event(seq: Int64, tenant: TenantID) async throws(EventLogError) -> RecordedEvent?

    /// The event at this place among the tenant's events; nil if there is none.
    func event(tenantSeq: Int64, tenant: TenantID) async throws(EventLogError) -> RecordedEvent?

    /// For each name, its newest retired activity, if there is one; in no order.
    func retired(named keys: [ActivityKey]) async throws(EventLogError) -> [RecoveredHead]

    /// The retired activity with this number; nil if there is none or it belongs to another tenant.
    func retired(
        _ activity: ActivityNumber, tenant: TenantID
    ) async throws(EventLogError) -> RecoveredHead?

    /// A head of the activity at or before a moment, to which the later events must be applied. Nil
    /// if the log has no such head: then apply all events. For `newest` see `EventQuery`.
    func snapshot(
        of activity: ActivityNumber, tenant: TenantID, at moment: LogMoment, newest: Int64
    ) async throws(EventLogError) -> RecoveredHead?

    /// Events of all tenants in order, for verification and rebuilding only.
    func history(after seq: Int64, limit: Int) async throws(EventLogError) -> [RecordedEvent]

    /// Reads a page of facts. Damaged rows are listed in `FactPage.damaged`.
    func facts(_ query: FactQuery) async throws(EventLogError) -> FactPage

    /// Erases content and leaves tombstones, which only say that something happened and when. An
    /// erased event has no body and no key, and an erased fact has the body `{}`. An erased
    /// activity has an empty head and no name. The call may be repeated, for example after an
    /// interruption.
    func erase(_ erasure: LogErasure) async throws(EventLogError) -> LogErased

    /// True if events may be appended. If it is false, the relay refuses events and goes on;
    /// checkpoints and facts still fit for a while.
    var hasRoom: Bool { get }

    /// One line for each damaged row that reads have found; lines are never removed.
    var damage: [String] { get }

    /// Finishes all calls. Later calls fail.
    func close() async
}

extension EventLog {
    /// By default a log has space for events.
    package var hasRoom: Bool { true }

    package var damage: [String] { [] }

    /// By default a log cannot erase: for logs that forward to another one.
    package func erase(_ erasure: LogErasure) async throws(EventLogError) -> LogErased {
        throw .unusable(
            cause: "this log cannot erase", hint: "erase through a relay with a log of its own")
    }

    /// The fact at this place among the tenant's facts; nil if there is none.
    package func fact(
        tenantSeq: Int64, tenant: TenantID
    ) async throws(EventLogError) -> RecordedFact? {
        guard tenantSeq > 0, tenantSeq < .max else { return nil }
        var query = FactQuery(tenant: tenant)
        (query.after, query.before, query.limit) = (tenantSeq - 1, tenantSeq + 1, 1)
        return try await facts(query).facts.first
    }

    /// By default a log keeps no snapshots.
    package func snapshot(
        of activity: ActivityNumber, tenant: TenantID, at moment: LogMoment, newest: Int64
    ) async throws(EventLogError) -> RecoveredHead? { nil }
}
