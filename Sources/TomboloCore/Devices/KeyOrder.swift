import TomboloJSON

/// The order in which API keys were minted. Numbers of deleted keys are not used again.
///
/// The order is record 0 in `RecordSpace.key`; the numbers of keys begin at 1.
package struct KeyOrder: Hashable, Sendable {
    /// The number of the newest key ever minted; 0 if there was none.
    package var newest: Int64 = 0
    /// The number that replaces the owner's key if an older relay stored a device without an
    /// owner; nil if no device has needed it.
    var unnoted: Int64?

    package static let number: Int64 = 0

    init() {}

    /// Returns nil if the record cannot be read.
    package init?(record value: [UInt8]) {
        // The nil result reports the damage, so the error is dropped.
        guard let view = try? JSONDocument(value).root, let newest = view["newest"]?.integer else {
            return nil
        }
        (self.newest, unnoted) = (newest, view["unnoted"]?.integer)
    }

    var record: Record {
        Record(space: .key, number: Self.number) { writer in
            writer.member("newest", newest)
            if let unnoted { writer.member("unnoted", unnoted) }
        }
    }
}

struct KeyTable: Sendable {
    /// With the number of each, to list them.
    private var values = ShardedDictionary<Int64, (number: Int64, value: [UInt8])>()
    private(set) var order = KeyOrder()
    var rates = KeyRates()

    /// All keys by number. If the newest key was deleted, the record of the order comes first.
    var stored: [(number: Int64, value: [UInt8])] {
        var all = values.values.sorted { $0.number < $1.number }
        if order.newest > all.last?.number ?? 0, let value = order.record.value {
            all.insert((KeyOrder.number, value), at: 0)
        }
        return all
    }

    /// Stores a key, or deletes it if `value` is nil. Returns the records to write.
    mutating func keep(_ number: Int64, _ value: [UInt8]?) -> [Record] {
        values[number] = value.map { (number, $0) }
        order.newest = max(order.newest, number)
        let record = Record(space: .key, number: number, value: value)
        return value == nil && number == order.newest ? [order.record, record] : [record]
    }

    mutating func adopt(_ record: Record) {
        guard record.number != KeyOrder.number else {
            let read = record.value.flatMap { KeyOrder(record: $0) } ?? KeyOrder()
            (order.newest, order.unnoted) = (max(order.newest, read.newest), read.unnoted)
            return
        }
        values[record.number] = record.value.map { (record.number, $0) }
        order.newest = max(order.newest, record.number)
    }

    /// The key number for owners that an older relay did not store. The first call chooses it, and
    /// returns the record to write.
    mutating func unnoted() -> (key: Int64, records: [Record]) {
        if let known = order.unnoted { return (known, []) }
        order.unnoted = order.newest
        return (order.newest, [order.record])
    }
}
