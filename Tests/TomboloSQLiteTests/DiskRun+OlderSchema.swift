import TestSupport
import Testing
import TomboloCore
import TomboloEventLog

@testable import TomboloSQLite

// A database as an older program would have left it.

extension DiskRun {
    /// The schema that the database on the disk has.
    func schema() throws -> Int64 {
        try Connection(path: path, access: .writing, vfs: disk.vfsName)
            .integer("PRAGMA user_version")
    }

    /// Makes the log one of schema 2, or of schema 1 where that could hold it. Not where something
    /// was erased: no program of those schemas did.
    mutating func goBackToAnOlderSchema() throws {
        guard tally.erasures == 0 else { return }
        let writer = try open()
        writer.writeLaterHeads()
        let connection = try Connection(path: path, access: .writing, vfs: disk.vfsName)
        try connection.execute("BEGIN IMMEDIATE")
        try connection.execute(
            """
            CREATE TABLE log(
                seq INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, activity INTEGER NOT NULL,
                version INTEGER NOT NULL, previous INTEGER NOT NULL, kind INTEGER NOT NULL,
                recorded_at INTEGER NOT NULL, crc INTEGER NOT NULL, idempotency_digest INTEGER,
                idempotency_key TEXT, body BLOB NOT NULL)
            """)
        try moveEventsBack(connection)
        for table in [
            "event", "block", "snapshot", "tally", "waypoint", "fact_block", "fact_index",
        ] {
            try connection.execute("DROP TABLE \(table)")
        }
        try giveHeadsTheLogsPlaces(connection)
        for table in ["head", "fact"] + (try RetiredDays.days(connection)).map({ "retired_\($0)" })
        {
            try connection.execute("ALTER TABLE \(table) DROP COLUMN tenant_seq")
        }
        let tables = "SELECT count(*) FROM sqlite_schema WHERE name GLOB 'retired_*'"
        let hasCut = try connection.integer("SELECT count(*) FROM cut") > 0
        let isFirst = try !hasCut && connection.integer(tables) == 0
        if isFirst { try connection.execute("DROP TABLE cut") }
        try connection.execute("PRAGMA user_version = \(isFirst ? 1 : 2); COMMIT")
        wasOlder = true
        note { $0.olderSchemas += 1 }
    }

    /// Older schemas know no others.
    private func giveHeadsTheLogsPlaces(_ connection: borrowing Connection) throws {
        for table in ["head"] + (try RetiredDays.days(connection)).map({ "retired_\($0)" }) {
            var found: [(ActivityHead, ActivityMarks.Mark)] = []
            let rows = try connection.prepare(
                "SELECT \(HeadRow.columns) FROM \(table) WHERE tenant_seq IS NOT NULL")
            while try rows.step() {
                guard var mark = HeadRow.mark(rows) else { continue }
                mark.tenantSeq = mark.seq
                let number = ActivityNumber(rows.integer(0))
                found.append((ActivityHead(activity: number, value: Array(rows.bytes(5))), mark))
            }
            let change = try connection.prepare(HeadRow.change(in: table))
            for (head, mark) in found {
                try change.check(HeadRow.write(head, mark, with: change))
            }
        }
    }

    private func moveEventsBack(_ connection: borrowing Connection) throws {
        let rows = try connection.prepare("SELECT \(EventRow.columns) FROM event ORDER BY seq")
        let insertion = try connection.prepare(
            """
            INSERT INTO log(seq, tenant, activity, version, previous, kind, recorded_at, crc,
                idempotency_digest, idempotency_key, body)
            VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)
            """)
        while try rows.step() {
            let seq = rows.integer(0)
            let row = rows.bytes(1)
            let its = try #require(EventRow.numbers(seq, row), "event \(seq) is whole")
            let hasKey = its.digestBytes > 0
            let key = UnsafeRawBufferPointer(
                rebasing: row[(its.bodyStart - Int(its.keyBytes))..<its.bodyStart])
            let body = UnsafeRawBufferPointer(rebasing: row[its.bodyStart...])
            let numbers = LegacyEventRow.Numbers(
                seq: seq, tenant: its.tenant, activity: its.activity, version: its.version,
                previous: its.previous, kind: Int64(its.kind), recordedAt: its.recordedAt,
                digest: hasKey
                    ? row.loadUnaligned(fromByteOffset: its.digestStart, as: Int64.self) : 0,
                keyBytes: hasKey ? Int64(key.count) : -1)
            var sum = RowChecksum(.log)
            sum.add(numbers)
            sum.add(key)
            sum.add(body)
            let columns = [
                seq, numbers.tenant, numbers.activity, numbers.version, numbers.previous,
                numbers.kind, numbers.recordedAt, sum.stored,
            ]
            for (index, value) in columns.enumerated() {
                insertion.bind(value, at: Int32(index + 1))
            }
            insertion.bind(hasKey ? numbers.digest : nil, at: 9)
            if hasKey { insertion.bindText(key, at: 10) } else { insertion.bindNull(at: 10) }
            insertion.bindBlob(body, at: 11)
            try insertion.execute()
        }
    }
}
