import Glibc
import Testing
import TomboloAPI

@testable import TomboloProgram

/// `deploy/runbook.md` is made from the table of what can be wrong.
@Suite struct RunbookTests {
    private static let path: String = {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return "/\(root)/deploy/runbook.md"
    }()

    @Test func `the runbook is that of the table`() throws {
        guard getenv("TOMBOLO_WRITE_RUNBOOK") == nil else {
            let file = try #require(fopen(Self.path, "w"))
            defer { fclose(file) }
            let bytes = Array(Runbook.markdown.utf8)
            #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
            return
        }
        let page = String(decoding: try FileBytes.read(Self.path), as: UTF8.self)
        #expect(page == Runbook.markdown, "TOMBOLO_WRITE_RUNBOOK=1 writes it")
    }

    @Test func `each command of the table is understood`() {
        let parser = CommandLineParser(table: .tombolo, environment: [:])
        let commands = AttentionRow.rows.map(\.command) + AlertRow.rows.map(\.command)
        for command in commands where command.hasPrefix("tombolo ") {
            let plain = command.replacing("{", with: "").replacing("}", with: "")
            let words = plain.split(separator: " ").dropFirst().map(String.init)
            #expect(throws: Never.self, "\(command)") { try parser.parse(words) }
        }
    }
}
