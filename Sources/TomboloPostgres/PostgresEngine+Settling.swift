#if Postgres
import Glibc
import TomboloCore
import TomboloEventLog
import TomboloLog

// Finds out what became of a transaction whose answer is missing.

extension PostgresEngine {
    /// Reconnects, however long it takes, and finds out whether the last transaction (the one after
    /// `batch`) is stored with the required durability: true if it is. Throws if another relay owns
    /// the log, if the log went back to an older state, or if it is being closed.
    func settle(after cause: PostgresError) throws(EventLogError) -> Bool {
        var cause = cause
        var (waited, endsSince): (Int32, Double?) = (0, nil)
        defer { lease.room.isFull = false }
        while true {
            // A server whose log of writes is full ends with PANIC, and cannot start before there
            // is room.
            if cause.state == PostgresError.State.diskFull { lease.room.isFull = true }
            let start = lease.trust.clock()
            do throws(PostgresError) {
                let new = try reconnected()
                try endOlder(new)
                let owner = try lockRow(new)
                guard owner == .own else { break }
                let found = try stored(new)
                guard found.last || found.next else { break }
                connection = new
                lease.trust.renew(from: start)
                return found.next
            } catch {
                cause = error
            }
            if lease.patience.isEnding {
                waited += Self.pause
                endsSince = endsSince ?? lease.figures.clock()
            }
            let ended = endsSince.map { lease.figures.clock() - $0 } ?? 0
            guard waited < lease.patience.milliseconds,
                ended * 1_000 < Double(lease.patience.milliseconds)
            else {
                throw .outcomeUnknown(cause: cause.message)
            }
            poll(nil, 0, Self.pause)
        }
        throw wentBack()
    }

    private static var pause: Int32 { 200 }

    private func reconnected() throws(PostgresError) -> PostgresConnection {
        do throws(EventLogError) {
            return try PostgresConnection(
                connection.database, name: lease.writerName, lease.patience)
        } catch {
            guard case .unusable(let cause, _) = error else {
                throw PostgresError(message: "\(error)")
            }
            throw PostgresError(message: cause)
        }
    }

    /// Ends the earlier session: it may still be committing, or hold the lock of the owner's row.
    private func endOlder(_ new: PostgresConnection) throws(PostgresError) {
        var name = PostgresValues()
        name.add(lease.writerName)
        let answers = try new.answers([
            PostgresQuestion(
                """
                SELECT 1 FROM (SELECT pg_terminate_backend(pid, 2000) AS ended
                    FROM pg_stat_activity
                    WHERE application_name = $1::text AND \(PostgresOwner.ours)) x
                WHERE NOT ended
                """, name)
        ])
        guard answers.allSatisfy({ $0.count == 0 }) else {
            throw PostgresError(message: "a session of before has not ended yet")
        }
    }

    private enum Owner { case own, other }

    /// Locks the owner's row and commits with the required durability. That makes all earlier
    /// commits as durable.
    private func lockRow(_ new: PostgresConnection) throws(PostgresError) -> Owner {
        var values = PostgresValues(lease.epoch)
        values.add(lease.holder)
        var questions = [
            PostgresQuestion("BEGIN"),
            PostgresQuestion("SELECT set_config('lock_timeout', '3s', true)"),
            PostgresQuestion(
                """
                SELECT 1 FROM \(schema).owner WHERE epoch = $1::int8 AND holder = $2::text
                FOR UPDATE
                """, values),
            PostgresQuestion(
                """
                UPDATE \(schema).owner SET since = since
                WHERE epoch = $1::int8 AND holder = $2::text
                """, values),
        ]
        if let durability { questions.append(durability) }
        let answers = try new.answers(questions + [PostgresQuestion("COMMIT")])
        guard new.warning == nil else { throw PostgresError(message: new.warning ?? "") }
        return answers[2].count == 1 ? .own : .other
    }

    private func stored(
        _ new: PostgresConnection
    ) throws(PostgresError) -> (last: Bool, next: Bool) {
        let answers = try new.answers([
            PostgresQuestion(
                "SELECT key FROM \(schema).batch WHERE key = ANY(ARRAY[$1::int8, $2::int8])",
                PostgresValues(batch, batch + 1))
        ])
        var found = (last: false, next: false)
        for answer in answers {
            for row in 0..<answer.count {
                if answer.integer(row, 0) == batch { found.last = true } else { found.next = true }
            }
        }
        return found
    }

    /// The error if another relay owns the row, or if the log's newest transaction is missing. If
    /// it is missing, the server went back to an older state of the log. Then the log is marked as
    /// restored, so the next start does not repeat what phones may already have received.
    func wentBack() -> EventLogError {
        let database = connection.database
        do throws(EventLogError) {
            let control = try PostgresConnection(database, lease.patience)
            let owner = try PostgresOwner(control)
            guard owner.epoch <= lease.epoch, !isRestoring else {
                return PostgresLease.taken(database, owner)
            }
            lease.end()
            // The row may still be that of an earlier owner, or of a running relay, which sends
            // heartbeats.
            let isFree = owner.holder.isEmpty || owner.holder == lease.holder
            try PostgresEventLog.setRestored(
                control, lease.restoring, lease.trust.clock, isFree: isFree)
            return .unusable(
                cause: "\(database.title) went back to an older state: what was stored after it is "
                    + "gone, and the log counts as restored from now on",
                hint: "start the relay again")
        } catch {
            return error
        }
    }
}
#endif
