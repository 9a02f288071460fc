/// A dictionary in parts, which grow one after another. `Dictionary` moves all entries when it
/// grows: with 300,000 of them the loop is held for 50 ms.
package struct ShardedDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private static var shardCount: Int { 256 }

    /// Empty until the first entry comes.
    private var shards: [[Key: Value]] = []
    package private(set) var count = 0

    package init() {}

    /// All values, in no particular order.
    package var values: some Sequence<Value> { shards.lazy.flatMap(\.values) }

    package subscript(key: Key) -> Value? {
        get { shards.isEmpty ? nil : shards[Self.shard(of: key)][key] }
        _modify {
            let shard = makeShard(of: key)
            let before = shards[shard].count
            defer { count += shards[shard].count - before }
            yield &shards[shard][key]
        }
    }

    package subscript(key: Key, default value: @autoclosure () -> Value) -> Value {
        get { self[key] ?? value() }
        _modify {
            let shard = makeShard(of: key)
            let before = shards[shard].count
            defer { count += shards[shard].count - before }
            yield &shards[shard][key, default: value()]
        }
    }

    /// Sets the value of a key. Returns the value before.
    @discardableResult
    package mutating func updateValue(_ value: Value, forKey key: Key) -> Value? {
        let before = self[key]
        self[key] = value
        return before
    }

    /// Removes a key. Returns its value.
    @discardableResult
    package mutating func removeValue(forKey key: Key) -> Value? {
        let before = self[key]
        if before != nil { self[key] = nil }
        return before
    }

    private static func shard(of key: Key) -> Int {
        Int(truncatingIfNeeded: UInt(bitPattern: key.hashValue) % UInt(shardCount))
    }

    private mutating func makeShard(of key: Key) -> Int {
        if shards.isEmpty { shards = Array(repeating: [:], count: Self.shardCount) }
        return Self.shard(of: key)
    }
}
