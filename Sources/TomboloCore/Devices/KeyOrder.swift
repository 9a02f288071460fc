import TomboloJSON

/// What is remembered of the order in which API keys were minted, beside the keys themselves: also
/// of those that were deleted, for no number is given twice.
///
/// It is the record of number 0 in `RecordSpace.key`; keys begin at 1.
package struct KeyOrder: Hashable, Sendable {
    /// The number of the newest key that was ever minted; 0: none was.
    package var newest: Int64 = 0
    /// A device whose record does not say whose key gave it its user counts as given it by this
    /// one; nil: there is no such device.
    var unnoted: Int64?

    package static let number: Int64 = 0

    init() {}

    /// Nil where it cannot be read.
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

/// The API keys, as the doors encode them, and their order.
struct KeyTable: Sendable {
    private var values: [Int64: [UInt8]] = [:]
    private(set) var order = KeyOrder()

    /// In the order of their numbers; where the newest was deleted, the order's own is first.
    var stored: [(number: Int64, value: [UInt8])] {
        var all = values.sorted { $0.key < $1.key }.map { (number: $0.key, value: $0.value) }
        if order.newest > all.last?.number ?? 0, let value = order.record.value {
            all.insert((KeyOrder.number, value), at: 0)
        }
        return all
    }

    /// Keeps a key; nil forgets it. Answers the current values to write.
    mutating func keep(_ number: Int64, _ value: [UInt8]?) -> [Record] {
        values[number] = value
        order.newest = max(order.newest, number)
        let record = Record(space: .key, number: number, value: value)
        return value == nil && number == order.newest ? [order.record, record] : [record]
    }

    /// Takes over a record of the last relay.
    mutating func adopt(_ record: Record) {
        guard record.number != KeyOrder.number else {
            let read = record.value.flatMap { KeyOrder(record: $0) } ?? KeyOrder()
            (order.newest, order.unnoted) = (max(order.newest, read.newest), read.unnoted)
            return
        }
        values[record.number] = record.value
        order.newest = max(order.newest, record.number)
    }

    /// The key that devices count as given their users by whose records do not say it, and the
    /// current value to write where it is found now.
    mutating func unnoted() -> (key: Int64, records: [Record]) {
        if let known = order.unnoted { return (known, []) }
        order.unnoted = order.newest
        return (order.newest, [order.record])
    }
}
