import CSQLite
import TomboloCore

/// Rows of the table `meta`: what belongs to the log as a whole.
enum LogMeta {
    private enum Key: Int64 {
        /// That of the hash of idempotency keys and of retired activities' names.
        case hash = 1
        case restored = 2
    }

    private typealias HashKey = (UInt64, UInt64)

    /// Keeps the key of the hash, `key`'s two words: stored hashes are made with it.
    static func setHashKey(
        _ key: [UInt64], _ connection: borrowing Connection
    ) throws(SQLiteError) {
        try set(.hash, (key[0], key[1]) as HashKey, connection)
    }

    /// Throws SQLITE_CORRUPT where the key's row is missing or damaged.
    static func hash(_ connection: borrowing Connection) throws(SQLiteError) -> KeyedHash {
        let key = try hashKey(connection)
        return KeyedHash(key0: key[0], key1: key[1])
    }

    /// The same as two words.
    static func hashKey(_ connection: borrowing Connection) throws(SQLiteError) -> [UInt64] {
        guard let key = try value(.hash, HashKey.self, connection)?.right else {
            throw SQLiteError(code: SQLITE_CORRUPT)
        }
        return [key.0, key.1]
    }

    /// The log is a copy that was put back at `now`.
    static func setRestored(
        _ now: Instant, _ connection: borrowing Connection
    ) throws(SQLiteError) {
        try set(.restored, now.nanoseconds, connection)
    }

    /// When it was put back last; nil where it never was, or where nobody can say.
    static func restoredAt(
        _ connection: borrowing Connection, damage: (String) -> Void
    ) throws(SQLiteError) -> Instant? {
        guard let found = try value(.restored, Int64.self, connection) else { return nil }
        guard let nanoseconds = found.right else {
            damage(
                "when the log was last restored is damaged: phones may show what it does not have")
            return nil
        }
        return Instant(nanoseconds: nanoseconds)
    }

    private static func set<Numbers: BitwiseCopyable>(
        _ key: Key, _ numbers: Numbers, _ connection: borrowing Connection
    ) throws(SQLiteError) {
        var buffer = RowBuffer()
        try connection.prepare(LogTable.meta.replacement)
            .put(key.rawValue, buffer.row(.meta, key.rawValue, numbers))
    }

    /// `right` is nil where the row is damaged.
    private static func value<Numbers: BitwiseCopyable>(
        _ key: Key, _ type: Numbers.Type, _ connection: borrowing Connection
    ) throws(SQLiteError) -> (right: Numbers?, Void)? {
        try connection.prepare(LogTable.meta.one).find(key.rawValue) { key, row in
            (RowChecksum.isRight(.meta, key, row) ? row.numbers(Numbers.self) : nil, ())
        }
    }
}
