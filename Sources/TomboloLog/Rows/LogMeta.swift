package import TomboloCore
package import TomboloEventLog

/// Rows of the table `meta`: what belongs to the log as a whole.
package enum LogMeta {
    private enum Key: Int64 {
        /// That of the hash of idempotency keys and of retired activities' names.
        case hash = 1
        case restored = 2
    }

    private typealias HashKey = (UInt64, UInt64)

    /// Keeps the key of the hash, `key`'s two words: stored hashes are made with it.
    static func setHashKey(_ key: [UInt64], _ engine: any LogWriting) throws(EventLogError) {
        try engine.put(.meta, .meta, Key.hash.rawValue, (key[0], key[1]) as HashKey)
    }

    /// Throws where the key's row is missing or damaged.
    static func hash(_ engine: any LogReading) throws(EventLogError) -> KeyedHash {
        guard let key = try hashKey(engine) else {
            throw .unusable(
                cause: "the key of the log's hashes is damaged", hint: "restore a backup")
        }
        return KeyedHash(key0: key[0], key1: key[1])
    }

    /// The same as two words; nil where the row is missing or damaged.
    static func hashKey(_ engine: any LogReading) throws(EventLogError) -> [UInt64]? {
        (try value(.hash, HashKey.self, engine) ?? nil).map { [$0.0, $0.1] }
    }

    /// The log is a copy that was put back at `now`.
    package static func setRestored(
        _ now: Instant, _ engine: any LogWriting
    ) throws(EventLogError) {
        try engine.put(.meta, .meta, Key.restored.rawValue, now.nanoseconds)
    }

    /// When it was put back last; nil where it never was, or where nobody can say.
    static func restoredAt(
        _ engine: any LogReading, damage: (String) -> Void
    ) throws(EventLogError) -> Instant? {
        guard let found = try value(.restored, Int64.self, engine) else { return nil }
        guard let nanoseconds = found else {
            damage(
                "when the log was last restored is damaged: phones may show what it does not have")
            return nil
        }
        return Instant(nanoseconds: nanoseconds)
    }

    /// nil where there is no such row, and a nil in it where the row is damaged.
    private static func value<Numbers: BitwiseCopyable>(
        _ key: Key, _ type: Numbers.Type, _ engine: any LogReading
    ) throws(EventLogError) -> Numbers?? {
        try engine.row(.meta, key.rawValue) { key, row in
            .some(RowChecksum.numbers(.meta, key, row))
        }
    }
}
