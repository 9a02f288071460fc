package import TomboloCore
package import TomboloEventLog

/// Rows of the table `meta`: values of the whole log.
package enum LogMeta {
    private enum Key: Int64 {
        /// Key of the row with the key of the log's hash function (`KeyedHash`).
        case hash = 1
        case restored = 2
    }

    private typealias HashKey = (UInt64, UInt64)

    /// Stores the key of the log's hash function, two words. All stored hashes depend on it.
    static func setHashKey(_ key: [UInt64], _ engine: any LogWriting) throws(EventLogError) {
        try engine.put(.meta, .meta, Key.hash.rawValue, (key[0], key[1]) as HashKey)
    }

    /// The log's hash function. Throws if the key's row is missing or damaged.
    static func hash(_ engine: any LogReading) throws(EventLogError) -> KeyedHash {
        guard let key = try hashKey(engine) else {
            throw .unusable(
                cause: "the key of the log's hashes is damaged", hint: "restore a backup")
        }
        return KeyedHash(key0: key[0], key1: key[1])
    }

    /// The key of the hash function as two words; nil if the row is missing or damaged.
    static func hashKey(_ engine: any LogReading) throws(EventLogError) -> [UInt64]? {
        (try value(.hash, HashKey.self, engine) ?? nil).map { [$0.0, $0.1] }
    }

    /// Notes that the log is a copy that was restored at `now`.
    package static func setRestored(
        _ now: Instant, _ engine: any LogWriting
    ) throws(EventLogError) {
        try engine.put(.meta, .meta, Key.restored.rawValue, now.nanoseconds)
    }

    /// When the log was last restored; nil if never or unknown.
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

    /// Returns nil if there is no such row, and `.some(nil)` if the row is damaged.
    private static func value<Numbers: BitwiseCopyable>(
        _ key: Key, _ type: Numbers.Type, _ engine: any LogReading
    ) throws(EventLogError) -> Numbers?? {
        try engine.row(.meta, key.rawValue) { key, row in
            .some(RowChecksum.numbers(.meta, key, row))
        }
    }
}
