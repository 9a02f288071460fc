#if Postgres
import CPostgreSQL
import TomboloLog

/// The parameters of one statement, in the binary forms that the server's `*send` functions have.
struct PostgresValues {
    private(set) var bytes: [UInt8] = []
    private(set) var ends: [Int] = []

    init() {}

    /// An `int8` each.
    init(_ numbers: Int64...) { for number in numbers { add(number) } }

    mutating func add(_ number: Int64) {
        word(number)
        ends.append(bytes.count)
    }

    mutating func add(_ text: String) {
        bytes += text.utf8
        ends.append(bytes.count)
    }

    /// An `int8[]`.
    mutating func add(_ numbers: [Int64]) {
        begin(type: 20, numbers.count)
        for number in numbers {
            word(Int32(8))
            word(number)
        }
        ends.append(bytes.count)
    }

    /// A `bytea[]`.
    mutating func add(_ rows: [ArraySlice<UInt8>]) {
        bytes.reserveCapacity(bytes.count + rows.reduce(32) { $0 + $1.count + 4 })
        begin(type: 17, rows.count)
        for row in rows {
            word(Int32(row.count))
            bytes += row
        }
        ends.append(bytes.count)
    }

    /// One dimension, without nulls, which begins at 1; the type's number is that of pg_type.
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

/// What one statement answered; freed with the value.
final class PostgresAnswer {
    private let result: OpaquePointer

    init(_ result: OpaquePointer) { self.result = result }

    deinit { PQclear(result) }

    var count: Int { Int(PQntuples(result)) }

    /// What was done, in the server's word, such as `COMMIT`.
    var tag: String { String(cString: PQcmdStatus(result)) }

    func isNull(_ row: Int, _ column: Int32) -> Bool {
        PQgetisnull(result, Int32(row), column) == 1
    }

    /// An `int8` as it is; 0 where it is none.
    func integer(_ row: Int, _ column: Int32) -> Int64 {
        let bytes = bytes(row, column)
        guard bytes.count == 8 else { return 0 }
        return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    }

    func text(_ row: Int, _ column: Int32) -> String {
        String(decoding: bytes(row, column), as: UTF8.self)
    }

    /// A value's bytes, valid as long as this is.
    func bytes(_ row: Int, _ column: Int32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: PQgetvalue(result, Int32(row), column),
            count: Int(PQgetlength(result, Int32(row), column)))
    }
}
#endif
