import Testing
import TomboloAPI
import TomboloCore

@testable import TomboloServer

@Suite struct LogCursorTests {
    @Test func `a cursor is read as it is written`() {
        var cursor = LogCursor()
        (cursor.command, cursor.fact) = (12, 7)
        #expect(LogCursor(cursor.text) == cursor)
        #expect(LogCursor("c12")?.command == 12)
        #expect(LogCursor("f7")?.fact == 7)
        for wrong in ["", "12", "c", "f", "c-1", "c1f", "c1f2f3", "x1"] {
            #expect(LogCursor(wrong) == nil, "\(wrong)")
        }
    }
}

@Suite struct LogMergeTests {
    private static let tenant = TenantID(Identifier("main")!)

    private func command(_ seq: Int64, at second: Int64) -> LogEntry {
        .command(
            RecordedEvent(
                seq: seq, previous: 0,
                event: NewEvent(
                    tenant: Self.tenant, activity: ActivityNumber(1), expectedVersion: 0,
                    kind: .start, recordedAt: Instant(seconds: second), body: [])),
            activity: nil)
    }

    private func fact(_ seq: Int64, at second: Int64) -> LogEntry {
        .fact(
            RecordedFact(
                seq: seq,
                fact: NewFact(
                    tenant: Self.tenant, activity: nil, kind: "x",
                    recordedAt: Instant(seconds: second), body: [])),
            activity: nil)
    }

    private func seconds(_ page: LogPage) -> [Int64] { page.entries.map(\.recordedAt.seconds) }

    @Test func `two sequences become one by their times`() {
        let merge = LogMerge(
            commands: ([command(1, at: 1), command(2, at: 4)], nil),
            facts: ([fact(1, at: 2), fact(2, at: 3)], nil), after: LogCursor(), limit: 10)
        #expect(seconds(merge.page) == [1, 2, 3, 4])
        #expect(merge.page.nextCursor == nil)
    }

    @Test func `a page ends at its limit and says where both go on`() {
        let merge = LogMerge(
            commands: ([command(1, at: 1), command(2, at: 4)], nil),
            facts: ([fact(1, at: 2), fact(2, at: 3)], nil), after: LogCursor(), limit: 2)
        #expect(seconds(merge.page) == [1, 2])
        #expect(merge.page.nextCursor == "c1f1")
    }

    @Test func `nothing is told before what may still come between`() {
        // The commands' page is cut after second 2: later ones may be older than the fact of second
        // 9.
        let merge = LogMerge(
            commands: ([command(1, at: 1), command(2, at: 2)], 2),
            facts: ([fact(1, at: 9)], nil), after: LogCursor(), limit: 10)
        #expect(seconds(merge.page) == [1, 2])
        #expect(merge.page.nextCursor == "c2f0")
    }

    @Test func `an empty page with a rest moves on`() {
        let merge = LogMerge(
            commands: ([], 100_000), facts: ([fact(1, at: 9)], nil), after: LogCursor(), limit: 10)
        #expect(merge.page.entries.isEmpty)
        #expect(merge.page.nextCursor == "c100000f0")
    }

    @Test func `after a clock that ran ahead every page moves on, and each entry comes once`() {
        let commands = [command(1, at: 900), command(2, at: 20), command(3, at: 30)]
        let facts = [fact(1, at: 10), fact(2, at: 950), fact(3, at: 40)]
        func page(
            _ all: [LogEntry], after place: Int64
        ) -> (entries: [LogEntry], next: Int64?) {
            let rest = all.filter { $0.tenantSeq > place }
            return (Array(rest.prefix(2)), rest.count > 2 ? rest[1].tenantSeq : nil)
        }
        var cursor = LogCursor()
        var told: [Int64] = []
        for _ in 0..<6 {
            let merge = LogMerge(
                commands: page(commands, after: cursor.command),
                facts: page(facts, after: cursor.fact), after: cursor, limit: 2)
            told += seconds(merge.page)
            guard let next = merge.page.nextCursor.flatMap({ LogCursor($0) }) else { break }
            #expect(next != cursor)
            cursor = next
        }
        #expect(told.sorted() == [10, 20, 30, 40, 900, 950], "\(told)")
    }
}
