import TomboloJSON

/// The order in which API keys were minted, including deleted ones: no number is used twice.
///
/// It is record 0 in `RecordSpace.key`; keys begin at 1.
package struct KeyOrder: Hashable, Sendable {
    /// The number of the newest key ever minted; 0: none.
    package var newest: Int64 = 0
    /// The key that counts as the source of a device's user if the device's record does not name
    /// one; nil: there is no such device.
    var unnoted: Int64?

    package static let number: Int64 = 0

    init() {}

    /// Nil if the record cannot be read.
    package init?(record value: [UInt8]) {
        // Damage is the answer.
        guard let view = try? JSONDocument(value).root, let newest = view["newest"]?.integer else {
            return nil
        }
        (self.newest, unnoted) = (newest, view["unnoted"]?.integer)
    }

    var record: Record {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("newest", newest)
        if let unnoted { writer.member("unnoted", unnoted) }
        writer.endObject()
        return Record(space: .key, number: Self.number, value: writer.bytes)
    }
}

/// The encoded API keys, and their order.
struct KeyTable: Sendable {
    private var values: [Int64: [UInt8]] = [:]
    private(set) var order = KeyOrder()

    /// All keys by number. If the newest key was deleted, the order's record comes first.
    var stored: [(number: Int64, value: [UInt8])] {
        var all = values.sorted { $0.key < $1.key }.map { (number: $0.key, value: $0.value) }
        if order.newest > all.last?.number ?? 0, let value = order.record.value {
            all.insert((KeyOrder.number, value), at: 0)
        }
        return all
    }

    /// Stores a key; nil deletes it. Returns the records to write.
    mutating func keep(_ number: Int64, _ value: [UInt8]?) -> [Record] {
        values[number] = value
        order.newest = max(order.newest, number)
        let record = Record(space: .key, number: number, value: value)
        return value == nil && number == order.newest ? [order.record, record] : [record]
    }

    /// Restores a key or the order from its record.
    mutating func adopt(_ record: Record) {
        guard record.number != KeyOrder.number else {
            let read = record.value.flatMap { KeyOrder(record: $0) } ?? KeyOrder()
            (order.newest, order.unnoted) = (max(order.newest, read.newest), read.unnoted)
            return
        }
        values[record.number] = record.value
        order.newest = max(order.newest, record.number)
    }

    /// The key that counts as the source of users in records without one. The record must be
    /// written if the key is chosen now.
    mutating func unnoted() -> (key: Int64, records: [Record]) {
        if let known = order.unnoted { return (known, []) }
        order.unnoted = order.newest
        return (order.newest, [order.record])
    }
}
