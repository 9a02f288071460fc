package import TomboloCore

/// The log's contract: events in one order, durable when `append` returns, and the current values
/// that make a start-up independent of history.
///
/// Guarantees: a batch is stored whole or not at all, and `append` returns after it is durable.
/// Sequences have no gaps, nor have the places of each tenant's events. An activity's versions are
/// 1, 2, 3 … Batches become durable in the order of their calls. The log knows no rules of
/// activities and never reads a body. `Sources/README.md` says what it keeps.
///
/// Each call throws `.closed` after `close`, and `.unusable` if the engine cannot be read. A row
/// that is damaged is no error: it is left out and reported.
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
    ///
    /// Throws `.versionConflict`, `.duplicateKey`, or `.unusable` if an activity's head is damaged:
    /// then nothing of this batch is stored, and other batches are not affected. Throws `.full` if
    /// there is no space, and `.unavailable` if the engine refuses now: nothing is stored, and the
    /// batch may be tried again. Throws `.owned` if another relay has taken the log, and
    /// `.outcomeUnknown` after any other error of the engine, and so does every later call that
    /// writes: stop, and recover.
    func append(_ batch: AppendBatch) async throws(EventLogError) -> AppendReceipt

    /// Reads what start-up needs. Call it once, before the first append. Idempotency keys from
    /// before the hour of `idempotencySince` (on the steady clock) are left out and may be deleted.
    /// Throws `.unusable` or `.full`; damaged rows are listed in the answer.
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

    /// At most `limit` events of all tenants after `seq`, in order, for verification and rebuilding
    /// only.
    func history(after seq: Int64, limit: Int) async throws(EventLogError) -> [RecordedEvent]

    /// Reads a page of facts. Damaged rows are listed in `FactPage.damaged`.
    func facts(_ query: FactQuery) async throws(EventLogError) -> FactPage

    /// Erases content and leaves tombstones, which only say that something happened and when. An
    /// erased event has no body and no key, and an erased fact has the body `{}`. An erased
    /// activity has an empty head and no name. The call may be repeated, for example after an
    /// interruption.
    ///
    /// Throws `.full` or `.outcomeUnknown`, like `append`. What was erased before stays erased.
    func erase(_ erasure: LogErasure) async throws(EventLogError) -> LogErased

    /// True if events may be appended. If it is false, the relay refuses events and goes on;
    /// checkpoints and facts still fit for a while.
    ///
    /// - Parameter now: by the relay's steady clock. An ample disk is not measured each time.
    func hasRoom(now: Instant) -> Bool

    /// False while another relay may own the log, because this one has not heard from the database
    /// for long. Then the relay refuses requests, and it is not ready.
    var isOwned: Bool { get }

    /// One line for each damaged row that reads have found; lines are never removed.
    var damage: [String] { get }

    /// Finishes all calls. Later calls fail.
    func close() async
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
    /// Another relay owns the log. `hint` has the remedy.
    case owned(cause: String, hint: String)
    /// Nothing was stored, because the engine refuses now. The same may be tried again; `hint` has
    /// the remedy.
    case unavailable(cause: String, hint: String)
    /// The log was closed.
    case closed
}

extension EventLogError {
    /// True if nothing was stored, and the same may be stored later.
    package var mayPass: Bool {
        switch self {
        case .full, .unavailable: true
        default: false
        }
    }
}

extension EventLog {
    /// By default a log has space for events.
    package func hasRoom(now: Instant) -> Bool { true }

    /// By default nobody else can own a log.
    package var isOwned: Bool { true }

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
