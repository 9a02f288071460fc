import Testing
import TomboloRelay
import TomboloServer

@testable import TomboloProgram

/// `deploy/README.md` says what the program does.
@Suite struct OperationsPageTests {
    private func page() throws -> String {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return String(decoding: try FileBytes.read("/\(root)/deploy/README.md"), as: UTF8.self)
    }

    @Test func `the page of operations has the table of all metrics`() throws {
        let table = MetricFamily.markdown
        #expect(try page().contains("\n\(table)\n"), "\(table)")
    }

    @Test func `the page of operations has each event of the log, and none that is not there`()
        throws
    {
        let page = try page()
        let begin = try #require(page.firstRange(of: "| Event | Level | When |\n|---|---|---|\n"))
        let rows = page[begin.upperBound...].split(
            separator: "\n", omittingEmptySubsequences: false
        ).prefix { $0.hasPrefix("| ") }
        let named = rows.flatMap { row in
            (row.split(separator: "|").first ?? "").split(separator: "`")
                .map(String.init).filter { $0.contains { $0.isLetter } }
        }
        #expect(named.sorted() == OperatorNote.Event.allCases.map(\.rawValue).sorted())
    }
}
