#if Postgres
import TomboloEventLog

/// Watches the owner of a log, and tells when it is gone: when reads without a break, for as long
/// as the lease, found no new heartbeat. Only the watcher's own clock counts. After a break, such
/// as a server that was away, the owner has time for a heartbeat again.
struct PostgresWatch {
    static let lookEvery: Int32 = 500

    private let lease: Double
    private var (seen, seenAt, lastAt) = ((epoch: Int64(-1), beat: Int64(0)), 0.0, 0.0)

    init(lease: Double) { self.lease = lease }

    /// True if the log may be taken from this owner, who was read at `moment`.
    mutating func mayTake(_ owner: PostgresOwner, at moment: Double) -> Bool {
        defer { lastAt = moment }
        guard !owner.holder.isEmpty else { return true }
        let isSame = (owner.epoch, owner.beat) == seen && moment - lastAt <= lease / 2
        guard isSame else {
            (seen, seenAt) = ((owner.epoch, owner.beat), moment)
            return false
        }
        return moment - seenAt >= max(lease, owner.lease)
    }

    /// The `application_name` of relays that wait for the log, as an expression. It has a number
    /// in place of the schema's name, which may be too long.
    static func sessionName(_ database: PostgresDatabase) -> String {
        "('tombolo waits ' || '\(database.quotedSchema).owner'::regclass::oid)"
    }
}
#endif
