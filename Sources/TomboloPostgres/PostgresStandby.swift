import Synchronization
package import TomboloCore
package import TomboloEventLog
import TomboloLog

#if Postgres
import Glibc
#endif

/// A relay that waits for a log which another relay owns. It looks at the owner's heartbeats twice
/// a second, on its own thread, and takes the log once the owner released it or is gone.
///
/// ```swift
/// let standby = try PostgresStandby(
///     database, pepper: pepper, clock: clock, reading: reading, chance: chance.next())
/// let taken = try await standby.taken()
/// let opened = try await standby.openLog(
///     taken, retention: .forever, caution: LogCaution(), chance: chance)
/// ```
package final class PostgresStandby: Sendable {
    /// The owner of the log, as it was last seen.
    package struct Owner: Hashable, Sendable {
        package var holder: String
        package var since: Instant
        /// When its last heartbeat came, by the server's clock; nil before the first.
        package var lastBeat: Instant?
        /// Age of that heartbeat.
        package var beatAge: Span
    }

    private struct State {
        var owner: Owner?
        /// When the owner was looked at.
        var seenAt = 0.0
        /// Why it cannot be looked at now; nil if it can.
        var trouble: String?
        var outcome: Result<Taken, EventLogError>?
        var waiting: CheckedContinuation<Result<Taken, EventLogError>, Never>?
    }

    private let state = Mutex(State())
    private let isEnding = Atomic(false)

    /// The owner that this relay waits for; nil before the first look, and once the log is taken.
    package var owner: Owner? {
        state.withLock { state in
            var owner = state.owner
            let since = Span.milliseconds(Int64((clock() - state.seenAt) * 1_000))
            if let age = owner?.beatAge {
                owner?.beatAge = Span(nanoseconds: age.nanoseconds + since.nanoseconds)
            }
            return owner
        }
    }

    /// Why the owner cannot be looked at now, and the log not be taken; nil if it can.
    package var trouble: String? { state.withLock { $0.trouble } }

    /// Stops waiting: `taken` throws `.closed`, if the log was not taken before.
    package func end() {
        isEnding.store(true, ordering: .releasing)
        finish(.failure(.closed))
    }

    private func finish(_ outcome: Result<Taken, EventLogError>) {
        let waiting = state.withLock { state in
            state.owner = nil
            guard let waiting = state.waiting else {
                state.outcome = state.outcome ?? outcome
                return nil as CheckedContinuation<Result<Taken, EventLogError>, Never>?
            }
            (state.outcome, state.waiting) = (Self.over, nil)
            return waiting
        }
        waiting?.resume(returning: outcome)
    }

    /// What is left of an outcome: who has the lease releases it, and then the log is handed on.
    private static let over: Result<Taken, EventLogError> = .failure(.closed)

    /// Returns once this relay owns the log. Throws `.unusable` if the server cannot be reached at
    /// the beginning, or if the schema belongs to another program, version or secret.
    package func taken() async throws(EventLogError) -> Taken {
        try await withCheckedContinuation { continuation in
            let outcome = state.withLock { state in
                guard let outcome = state.outcome else {
                    state.waiting = continuation
                    return nil as Result<Taken, EventLogError>?
                }
                state.outcome = Self.over
                return outcome
            }
            if let outcome { continuation.resume(returning: outcome) }
        }.get()
    }

    private let clock: PostgresClock

    #if Postgres
    /// The right to write the log. If it is released, another relay takes the log at once.
    package struct Taken: Sendable {
        fileprivate let lease: PostgresLease
        package var trust: PostgresTrust { lease.trust }
    }

    private let database: PostgresDatabase
    private let holder: String
    private let pepper: [UInt8]
    private let reading: @Sendable () -> PostgresReading
    private let thread = Mutex<WorkerThread<@Sendable () -> Void>?>(nil)

    /// Begins to watch. `pepper` is compared with the one that made the log.
    package init(
        _ database: PostgresDatabase, pepper: [UInt8], clock: @escaping PostgresClock,
        reading: @escaping @Sendable () -> PostgresReading, chance: UInt64
    ) throws(EventLogError) {
        (self.database, self.clock, self.reading, self.pepper) = (database, clock, reading, pepper)
        holder = PostgresLease.newHolder(chance)
        let worker = try WorkerThread<@Sendable () -> Void>(name: "log standby") { [weak self] in
            self?.watch()
            while let jobs = $0.take() { for job in jobs { job() } }
        }
        thread.withLock { $0 = worker }
    }

    /// Opens the log, on the thread that has waited for it: a locked table may make it take long.
    package func openLog(
        _ taken: Taken, retention: LogRetention, caution: LogCaution,
        chance: some RandomNumberGenerator & Sendable
    ) async throws(EventLogError) -> PostgresEventLog.Opened {
        guard let thread = thread.withLock({ $0 }) else { throw .closed }
        let database = database
        return try await thread.answer { asking in
            {
                var chance = chance
                asking.resume(
                    returning: Result { () throws(EventLogError) in
                        try PostgresEventLog.opened(
                            database, taken.lease, retention: retention, caution: caution,
                            chance: &chance)
                    })
            }
        }
    }

    private func watch() {
        var connection: PostgresConnection?
        var watch = PostgresWatch(lease: Double(database.leaseMilliseconds) / 1_000)
        while !isEnding.load(ordering: .acquiring) {
            do throws(EventLogError) {
                let looking = if let connection { connection } else { try connect() }
                connection = looking
                if let lease = try look(looking, &watch) {
                    return finish(.success(Taken(lease: lease)))
                }
            } catch {
                // At the beginning somebody looks at the error. Later the server may be away.
                let isFirst = state.withLock { state in
                    if state.owner != nil { state.trouble = Self.words(error) }
                    return state.owner == nil
                }
                guard !isFirst else { return finish(.failure(error)) }
                connection = nil
            }
            for _ in 0..<PostgresWatch.lookEvery / Self.step
            where !isEnding.load(ordering: .acquiring) {
                poll(nil, 0, Self.step)
            }
        }
    }

    private static let step: Int32 = 20

    private static func words(_ error: EventLogError) -> String {
        if case .unusable(let cause, let hint) = error { return "\(cause); \(hint)" }
        return "\(error)"
    }

    private func connect() throws(EventLogError) -> PostgresConnection {
        let new = try PostgresConnection(
            database, PostgresPatience(milliseconds: 2_000, looks: false))
        try PostgresSchema.require(new, pepper: pepper)
        _ = try PostgresOwner(new)
        _ = try new.ask(
            "SELECT set_config('application_name', \(PostgresWatch.sessionName(database)), false)")
        return new
    }

    /// Takes the log, if its owner is gone.
    private func look(
        _ connection: PostgresConnection, _ watch: inout PostgresWatch
    ) throws(EventLogError) -> PostgresLease? {
        let found = try PostgresOwner(connection)
        // A commit that was given up may have made this relay the owner.
        let isOwn = found.holder == holder
        var mayTake = watch.mayTake(found, at: clock()) || isOwn
        if mayTake, !isOwn, !found.holder.isEmpty { mayTake = try !found.waits(connection) }
        if mayTake {
            // The schema may be another one by now.
            try PostgresSchema.require(connection, pepper: pepper)
            if !found.holder.isEmpty { try found.endConnections(connection) }
            do throws(EventLogError) {
                return try PostgresLease(
                    connection, from: found, holder: holder, PostgresPatience(), clock, reading)
            } catch {
                // Another one that waits was faster.
                guard case .owned = error else { throw error }
            }
        }
        let beat = found.lease > 0 ? found.beaten : nil
        let owner = Owner(
            holder: found.holder, since: found.since, lastBeat: beat,
            beatAge: max(.zero, found.now - (beat ?? found.since)))
        state.withLock { state in
            state.trouble = nil
            if state.outcome == nil, !owner.holder.isEmpty || state.owner != nil {
                (state.owner, state.seenAt) = (owner, clock())
            }
        }
        return nil
    }
    #else
    /// Never made.
    package struct Taken: Sendable { package let trust: PostgresTrust }

    /// Throws `.unusable`.
    package init(
        _ database: PostgresDatabase, pepper: [UInt8], clock: @escaping PostgresClock,
        reading: @escaping @Sendable () -> PostgresReading, chance: UInt64
    ) throws(EventLogError) { throw PostgresEventLog.absent }

    /// Throws `.unusable`.
    package func openLog(
        _ taken: Taken, retention: LogRetention, caution: LogCaution,
        chance: some RandomNumberGenerator & Sendable
    ) async throws(EventLogError) -> PostgresEventLog.Opened { throw PostgresEventLog.absent }
    #endif
}
