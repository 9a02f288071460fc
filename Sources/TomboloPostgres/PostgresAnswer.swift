#if Postgres
import CPostgreSQL

/// The result of one statement. It is freed when this object is.
final class PostgresAnswer {
    private let result: OpaquePointer

    init(_ result: OpaquePointer) { self.result = result }

    deinit { PQclear(result) }

    var count: Int { Int(PQntuples(result)) }

    /// The server's command tag, such as `COMMIT`.
    var tag: String { String(cString: PQcmdStatus(result)) }

    func isNull(_ row: Int, _ column: Int32) -> Bool {
        PQgetisnull(result, Int32(row), column) == 1
    }

    /// Value of an `int8`; 0 if the value has another size.
    func integer(_ row: Int, _ column: Int32) -> Int64 {
        let bytes = bytes(row, column)
        guard bytes.count == 8 else { return 0 }
        return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    }

    func text(_ row: Int, _ column: Int32) -> String {
        String(decoding: bytes(row, column), as: UTF8.self)
    }

    /// A value's bytes, valid as long as this object.
    func bytes(_ row: Int, _ column: Int32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: PQgetvalue(result, Int32(row), column),
            count: Int(PQgetlength(result, Int32(row), column)))
    }
}
#endif
