#if Postgres
import Glibc
import Testing
import TomboloEventLog

@testable import TomboloPostgres

/// The password goes to libpq as its file has it.
@Suite struct PostgresPasswordTests {
    private func read(_ content: [UInt8]) throws -> [UInt8]? {
        var name = Array("/tmp/tombolo-password-XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        try #require(descriptor >= 0)
        defer {
            close(descriptor)
            unlink(name)
        }
        try #require(write(descriptor, content, content.count) == content.count)
        var database = PostgresDatabase()
        database.passwordFile = name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        return try PostgresPassword.read(database)
    }

    private func objection(_ content: [UInt8]) -> String {
        let error = #expect(throws: EventLogError.self) { _ = try read(content) }
        return "\(error as Any)"
    }

    @Test(arguments: [0, 1, 2_500, 65_536]) func `a password is read whole`(count: Int) throws {
        let password = [UInt8](repeating: 97, count: count)
        #expect(try read(password) == password)
        #expect(try read(password + Array("\r\nsecond line".utf8)) == password)
    }

    @Test func `a password that no server takes is refused, and its first bytes are not used`() {
        let text = objection([UInt8](repeating: 97, count: 65_537))
        #expect(text.contains("more than 65536 bytes") && !text.contains("aaa"))
    }

    @Test func `bytes that are not UTF-8 stay, and a NUL is refused`() throws {
        let password: [UInt8] = [0xff, 0xfe, 0xe4, 32, 0xc3]
        #expect(try read(password + [10]) == password)
        #expect(objection([97, 0, 98]).contains("NUL"))
    }
}
#endif
