import Testing
import TomboloAPI
import TomboloCore

@testable import TomboloServer

/// The log that cursors of these tests belong to.
private let log = LogID(0x3f9a_01bc)

private let beginning = LogCursor(log, .none)

@Suite struct LogCursorTests {
    @Test func `a cursor is read as it is written`() {
        let cursor = LogCursor(log, LogPlace(command: 12, fact: 7))
        #expect(cursor.text == "3f9a01bc-12-7")
        #expect(LogCursor(cursor.text) == cursor)
        #expect(LogCursor("00000001-0-0") == LogCursor(LogID(1), .none))
        for wrong in [
            "", "12", "c12f7", "3f9a01bc", "3f9a01bc-1", "3f9a01bc-1-", "3f9a01bc-1-2-3",
            "3f9a01bc--1-2", "3f9a01b-1-2", "3f9a01bg-1-2", "3f9a01bc-1-99999999999999999999",
            "3f9a01bc-+1-2",
        ] {
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

    private func seconds(_ page: LogPage) -> [Int64] {
        page.entries.map(\.entry.recordedAt.seconds)
    }

    private func place(_ command: Int64, _ fact: Int64) -> LogCursor {
        LogCursor(log, LogPlace(command: command, fact: fact))
    }

    @Test func `two sequences become one by their times`() {
        let merge = LogMerge(
            commands: ([command(1, at: 1), command(2, at: 4)], nil),
            facts: ([fact(1, at: 2), fact(2, at: 3)], nil), after: beginning, limit: 10)
        #expect(seconds(merge.page) == [1, 2, 3, 4])
        #expect(merge.page.nextCursor == nil)
        #expect(
            merge.entries.map(\.cursor) == [place(1, 0), place(1, 1), place(1, 2), place(2, 2)])
    }

    @Test func `a page ends at its limit and says where both go on`() {
        let merge = LogMerge(
            commands: ([command(1, at: 1), command(2, at: 4)], nil),
            facts: ([fact(1, at: 2), fact(2, at: 3)], nil), after: beginning, limit: 2)
        #expect(seconds(merge.page) == [1, 2])
        #expect(merge.page.nextCursor == place(1, 1))
    }

    @Test func `nothing is told before what may still come between`() {
        // The commands' page is cut after second 2: later ones may be older than the fact of second
        // 9.
        let merge = LogMerge(
            commands: ([command(1, at: 1), command(2, at: 2)], 2),
            facts: ([fact(1, at: 9)], nil), after: beginning, limit: 10)
        #expect(seconds(merge.page) == [1, 2])
        #expect(merge.page.nextCursor == place(2, 0))
    }

    @Test func `an empty page with a rest moves on`() {
        let merge = LogMerge(
            commands: ([], 100_000), facts: ([fact(1, at: 9)], nil), after: beginning, limit: 10)
        #expect(merge.page.entries.isEmpty)
        #expect(merge.page.nextCursor == place(100_000, 0))
    }

    @Test func `what was looked at and is not asked for is behind the cursor`() {
        let merge = LogMerge(
            commands: ([command(3, at: 1)], nil), facts: ([], nil), after: beginning, limit: 10,
            end: LogPlace(command: 9, fact: 4))
        #expect(seconds(merge.page) == [1])
        #expect(merge.cursor == place(9, 4))
    }

    @Test func `what cannot be read and what was deleted have their places`() {
        let rows = LogMerge.sequence(
            "fact", [fact(12, at: 5), fact(15, at: 6)], damaged: [13...14], after: 9, first: 12,
            at: Instant(seconds: 5))
        #expect(rows.map(\.tenantSeq) == [11, 12, 14, 15])
        #expect(rows.map(\.name) == ["left_out", "x", "damaged", "x"])
        let whole = LogMerge.sequence(
            "fact", [fact(10, at: 5)], damaged: [], after: 9, first: 10, at: Instant(seconds: 5))
        #expect(whole.map(\.name) == ["x"])
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
        var cursor = beginning
        var told: [Int64] = []
        for _ in 0..<6 {
            let merge = LogMerge(
                commands: page(commands, after: cursor.place.command),
                facts: page(facts, after: cursor.place.fact), after: cursor, limit: 2)
            told += seconds(merge.page)
            guard let next = merge.page.nextCursor else { break }
            #expect(next != cursor)
            cursor = next
        }
        #expect(told.sorted() == [10, 20, 30, 40, 900, 950], "\(told)")
    }
}
