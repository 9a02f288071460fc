#if Postgres
/// The parameters of one statement, in PostgreSQL's binary formats.
struct PostgresValues {
    private(set) var bytes: [UInt8] = []
    private(set) var ends: [Int] = []

    init() {}

    /// Adds each number as an `int8`.
    init(_ numbers: Int64...) { for number in numbers { add(number) } }

    mutating func add(_ number: Int64) {
        word(number)
        ends.append(bytes.count)
    }

    mutating func add(_ text: String) {
        bytes += text.utf8
        ends.append(bytes.count)
    }

    mutating func add(_ numbers: [Int64]) {
        begin(type: 20, numbers.count)
        for number in numbers {
            word(Int32(8))
            word(number)
        }
        ends.append(bytes.count)
    }

    mutating func add(_ rows: [ArraySlice<UInt8>]) {
        bytes.reserveCapacity(bytes.count + rows.reduce(32) { $0 + $1.count + 4 })
        begin(type: 17, rows.count)
        for row in rows {
            word(Int32(row.count))
            bytes += row
        }
        ends.append(bytes.count)
    }

    /// The head of an array with one dimension, no nulls and indices from 1. `type` is the number
    /// of the element type in pg_type.
    private mutating func begin(type: Int32, _ count: Int) {
        for number in [count == 0 ? 0 : 1, 0, type] { word(number) }
        guard count > 0 else { return }
        word(Int32(count))
        word(Int32(1))
    }

    private mutating func word(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }
}
#endif
