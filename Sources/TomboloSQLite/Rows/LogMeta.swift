import CSQLite
import TomboloCore

/// Rows of the table `meta`: what belongs to the log as a whole.
enum LogMeta {
    private static let hashKey = "idempotency_hash_key"

    /// Keeps the key of the hash for ever: stored hashes are made with it.
    static func insertHashKey(
        _ key: [UInt64], _ connection: borrowing Connection
    ) throws(SQLiteError) {
        let statement = try connection.prepare(
            "INSERT INTO meta(name, crc, value) VALUES(?1,?2,?3)")
        let code = withBytes(of: hashKey) { name in
            key.withUnsafeBytes { value in
                statement.bindText(name, at: 1)
                statement.bind(checksum(name, value), at: 2)
                statement.bindBlob(value, at: 3)
                return statement.run()
            }
        }
        try statement.check(code)
    }

    /// A new key in place of one that cannot be read.
    static func replaceHashKey(
        _ key: [UInt64], _ connection: borrowing Connection
    ) throws(SQLiteError) {
        try connection.execute("DELETE FROM meta WHERE name = '\(hashKey)'")
        try insertHashKey(key, connection)
    }

    /// Throws SQLITE_CORRUPT where the key's row is missing or damaged.
    static func hash(_ connection: borrowing Connection) throws(SQLiteError) -> KeyedHash {
        let row = try connection.prepare(
            "SELECT crc, value FROM meta WHERE name = '\(hashKey)'")
        guard try row.step() else { throw SQLiteError(code: SQLITE_CORRUPT) }
        let value = row.bytes(1)
        let sum = withBytes(of: hashKey) { checksum($0, value) }
        guard sum == row.integer(0), value.count == 16 else {
            throw SQLiteError(code: SQLITE_CORRUPT)
        }
        return KeyedHash(
            key0: value.loadUnaligned(as: UInt64.self),
            key1: value.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    private static let restored = "restored_at"

    /// The log is a copy that was put back at `now`.
    static func setRestored(
        _ now: Instant, _ connection: borrowing Connection
    ) throws(SQLiteError) {
        let statement = try connection.prepare(
            "INSERT OR REPLACE INTO meta(name, crc, value) VALUES(?1,?2,?3)")
        let code = withBytes(of: restored) { name in
            withUnsafeBytes(of: now.nanoseconds) { value in
                statement.bindText(name, at: 1)
                statement.bind(checksum(name, value), at: 2)
                statement.bindBlob(value, at: 3)
                return statement.run()
            }
        }
        try statement.check(code)
    }

    /// When it was put back last; nil where it never was, or where nobody can say.
    static func restoredAt(
        _ connection: borrowing Connection, damage: (String) -> Void
    ) throws(SQLiteError) -> Instant? {
        let row = try connection.prepare(
            "SELECT crc, value FROM meta WHERE name = '\(restored)'")
        guard try row.step() else { return nil }
        let value = row.bytes(1)
        let sum = withBytes(of: restored) { checksum($0, value) }
        guard sum == row.integer(0), value.count == 8 else {
            damage(
                "when the log was last restored is damaged: phones may show what it does not have")
            return nil
        }
        return Instant(nanoseconds: value.loadUnaligned(as: Int64.self))
    }

    private static func checksum(
        _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) -> Int64 {
        var sum = RowChecksum(.meta)
        sum.add(name)
        sum.add(value)
        return sum.stored
    }
}
