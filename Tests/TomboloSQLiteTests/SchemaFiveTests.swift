import CLinux
import Glibc
import TestSupport
import Testing
import TomboloCore
import TomboloEventLog

@testable import TomboloLog
@testable import TomboloSQLite

/// A data directory as a relay of schema 5 left it: what a log of the present schema keeps, in the
/// rows of then.
private struct OldLog {
    let place = SQLitePlace()
    /// All that it keeps, as an export of the present schema tells it; without identity and leads.
    let items: [String]
    static let hashKey: [UInt64] = [0x1234_5678_9abc_def0, .max]
    static let restoredAt = Sample.noon + .seconds(77)
    static let key = IdempotencyKey(key: "key-2-0", bodyDigest: 0xfeed_face_dead_beef)
    private static let numbers = [Sample.lab: Int64(1), Sample.field: 2]

    var directory: String { place.directory }

    /// Activities 1 to 3 of a tenant, of which 3 has retired, and 11 of another one.
    init() async throws {
        let present = SQLitePlace()
        let log = try present.reopen()
        var lab = SampleActivities()
        var field = SampleActivities(tenant: Sample.field)
        var before: [LogItem] = []
        for round in Int64(0)..<4 {
            let at = Sample.noon + .seconds(round)
            for activity in Int64(1)...3 {
                let event = lab.next(
                    activity, "{\"r\":\(round)}", kind: round == 3 ? .end : .update, at: at,
                    key: "key-\(activity)-\(round)")
                _ = try await log.append(lab.batch([event]))
            }
            let event = field.next(11, "{\"r\":\(round)}", at: at)
            var batch = field.batch([event])
            batch.facts = [
                Sample.fact("push.accepted", activity: 1), Sample.fact("device.seen"),
                Sample.fact("push.accepted", activity: 11, tenant: Sample.field),
            ]
            batch.records = [Record(space: .device, number: round + 1, value: [0, 255])]
            _ = try await log.append(batch)
            if round == 1 { before = try Self.items(present) }
        }
        var batch = AppendBatch()
        batch.retired = [
            RetiredActivity(
                activity: ActivityNumber(3), name: SampleActivities.name(3), endedAt: Sample.noon)
        ]
        _ = try await log.append(batch)
        await log.close()
        let after = try Self.items(present)
        items = after.map { "\($0)" }
        try change(Self.tables)
        // Heads that live are behind, as after a crash; rows of events are those of now.
        for case .head(let head, let tenant, _) in before where head.activity.rawValue != 3 {
            try insert(head, Self.numbers[tenant] ?? 0, into: "head")
        }
        for item in after { try insert(item) }
        try fill()
        try change(
            """
            ATTACH '\(present.directory)/tombolo.db' AS present;
            INSERT INTO event SELECT rowid, row FROM present.event
            """)
    }

    /// As somebody with a shell.
    func change(_ sql: String) throws {
        try Connection(path: directory + "/tombolo.db", access: .writing).execute(sql)
    }

    private static func items(_ place: SQLitePlace) throws -> [LogItem] {
        var items: [LogItem] = []
        try LogExport(SQLiteTables.reading(place.directory + "/tombolo.db")).run { item in
            switch item {
            case .identity, .lead, .end: break
            default: items.append(item)
            }
        }
        return items
    }

    private func insert(_ item: LogItem) throws {
        switch item {
        case .head(let head, let tenant, .some(let day)):
            try insert(head, Self.numbers[tenant] ?? 0, into: "retired_\(day)")
        case .fact(let recorded): try insert(recorded, Self.numbers[recorded.fact.tenant] ?? 0)
        case .record(let record):
            let (key, value) = (Int64(record.space.rawValue) << 48 | record.number, record.value)
            let crc = Self.sum(.record, Self.le(key), value ?? [])
            try change("INSERT INTO record VALUES(\(key), \(crc), x'\(Self.hex(value ?? []))')")
        default: break
        }
    }

    private func insert(_ head: RecoveredHead, _ tenant: Int64, into table: String) throws {
        let crc = Self.sum(
            .head, Self.le(head.activity.rawValue, tenant, head.version, head.seq), head.value,
            head.tenantSeq == head.seq ? [] : Self.le(head.tenantSeq))
        try change(
            """
            INSERT INTO \(table) VALUES(\(head.activity.rawValue), \(tenant), \(head.version),
                \(head.seq), \(crc), x'\(Self.hex(head.value))',
                nullif(\(head.tenantSeq), \(head.seq)))
            """)
    }

    private func insert(_ recorded: RecordedFact, _ tenant: Int64) throws {
        let (seq, fact) = (recorded.seq, recorded.fact)
        let crc = Self.sum(
            .fact,
            Self.le(
                seq, tenant, fact.activity?.rawValue ?? 0, fact.activity == nil ? 0 : 1,
                fact.recordedAt.nanoseconds, Int64(fact.kind.utf8.count)),
            Array(fact.kind.utf8), fact.body,
            recorded.tenantSeq == seq ? [] : Self.le(recorded.tenantSeq))
        try change(
            """
            INSERT INTO fact VALUES(\(seq), \(tenant),
                \(fact.activity.map { "\($0.rawValue)" } ?? "NULL"), \(fact.recordedAt.nanoseconds),
                \(crc), '\(fact.kind)', x'\(Self.hex(fact.body))',
                nullif(\(recorded.tenantSeq), \(seq)))
            """)
    }

    /// What belongs to the log as a whole. The tally is behind, as after a crash.
    private func fill() throws {
        for (tenant, number) in Self.numbers {
            let name = tenant.name.rawValue
            let crc = Self.sum(.tenant, Self.le(number), Array(name.utf8))
            try change("INSERT INTO tenant VALUES(\(number), '\(name)', \(crc))")
        }
        for number in Int64(0)...1 {
            let crc = Self.sum(.tally, Self.le(number, 4, 3))
            try change("INSERT INTO tally VALUES(\(number), 4, 3, \(crc))")
        }
        for (name, value) in [
            ("idempotency_hash_key", Self.hashKey.flatMap { Self.le(Int64(bitPattern: $0)) }),
            ("restored_at", Self.le(Self.restoredAt.nanoseconds)),
        ] {
            let crc = Self.sum(.meta, Array(name.utf8), value)
            try change("INSERT INTO meta VALUES('\(name)', \(crc), x'\(Self.hex(value))')")
        }
        for (name, value) in [
            ("heads", 8), ("lead 0 0", 1 << 40 - 90), ("lead 10 2", 1 << 40 + 7_200),
        ] as [(String, Int64)] {
            let crc = Self.sum(.cut, Array(name.utf8), Self.le(value))
            try change("INSERT INTO cut VALUES('\(name)', \(value), \(crc))")
        }
    }

    private static func sum(_ table: RowChecksum.Table, _ parts: [UInt8]...) -> Int64 {
        let value = parts.reduce(table.rawValue) { tombolo_crc32c($0, $1, $1.count) }
        return Int64(Int32(bitPattern: value))
    }

    private static func le(_ numbers: Int64...) -> [UInt8] {
        numbers.flatMap { withUnsafeBytes(of: $0.littleEndian, Array.init) }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    private static let headColumns = """
        (activity INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, version INTEGER NOT NULL,
        seq INTEGER NOT NULL, crc INTEGER NOT NULL, value BLOB NOT NULL, tenant_seq INTEGER)
        """
    private static let tables = """
        PRAGMA journal_mode = WAL; PRAGMA application_id = \(LogSchema.applicationID);
        PRAGMA user_version = 5;
        CREATE TABLE tenant(id INTEGER PRIMARY KEY, name TEXT NOT NULL, crc INTEGER NOT NULL);
        CREATE TABLE event(seq INTEGER PRIMARY KEY, row BLOB NOT NULL);
        CREATE TABLE snapshot(seq INTEGER PRIMARY KEY, crc INTEGER NOT NULL, row BLOB NOT NULL);
        CREATE TABLE fact(
            seq INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, activity INTEGER,
            recorded_at INTEGER NOT NULL, crc INTEGER NOT NULL, kind TEXT NOT NULL,
            body BLOB NOT NULL, tenant_seq INTEGER);
        CREATE TABLE head\(headColumns);
        CREATE TABLE retired_20833\(headColumns);
        CREATE TABLE retired_name_20833(
            hash INTEGER, activity INTEGER, crc INTEGER NOT NULL, PRIMARY KEY(hash, activity))
            WITHOUT ROWID;
        CREATE TABLE record(key INTEGER PRIMARY KEY, crc INTEGER NOT NULL, value BLOB NOT NULL);
        CREATE TABLE meta(
            name TEXT PRIMARY KEY, crc INTEGER NOT NULL, value BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE cut(
            name TEXT PRIMARY KEY, value INTEGER NOT NULL, crc INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE tally(
            tenant INTEGER PRIMARY KEY, event INTEGER NOT NULL, fact INTEGER NOT NULL,
            crc INTEGER NOT NULL)
        """
}

/// Takes the log in `directory` into `place`, and answers its items.
private func take(over directory: String, into place: SQLitePlace) throws -> [String] {
    var chance = SplitMix64(seed: 2)
    var items: [String] = []
    let taking = try LogImport(directory: place.directory, chance: &chance)
    try SchemaFive(directory: directory).run { item in
        items.append("\(item)")
        try taking.take(item)
    }
    try taking.finish()
    return items
}

/// Why that is refused, and what to do.
private func refusal(_ directory: String) throws -> String {
    let place = SQLitePlace()
    do {
        _ = try take(over: directory, into: place)
    } catch EventLogError.unusable(let cause, let hint) {
        #expect(access(place.directory + "/tombolo.db", F_OK) != 0, "there is no half a log")
        #expect(access(place.directory + "/tombolo.db.importing", F_OK) != 0)
        return "\(cause); \(hint)"
    }
    Issue.record("it was taken")
    return ""
}

@Suite struct SchemaFiveTests {
    @Test func `all that a log of schema 5 keeps comes into a new one`() async throws {
        let (old, place) = (try await OldLog(), SQLitePlace())
        try old.change("PRAGMA journal_mode = WAL")
        let items = try take(over: old.directory, into: place)
        for end in ["-wal", "-shm"] {
            #expect(access(old.directory + "/tombolo.db" + end, F_OK) != 0, "nothing new is there")
        }
        let identity = LogItem.identity(hashKey: OldLog.hashKey, restoredAt: OldLog.restoredAt)
        #expect(items.first == "\(identity)")
        let leads: [LogItem] = [
            .lead(event: 0, fact: 0, seconds: -90), .lead(event: 10, fact: 2, seconds: 7_200),
        ]
        #expect(items.dropFirst(2).prefix(2).elementsEqual(leads.map { "\($0)" }))
        #expect(items.dropFirst(1).prefix(1) + items.dropFirst(4).dropLast() == old.items[...])
        let path = place.directory + "/tombolo.db"
        let wrong = try LogVerification(path: path).run { _ in }.wrong
        // Any bytes are a record to a log.
        #expect(wrong.allSatisfy { $0.hasPrefix("record ") }, "\(wrong)")
        let log = try place.reopen()
        let recovered = try await log.recover()
        #expect(recovered.restoredAt == OldLog.restoredAt)
        #expect(recovered.damage.isEmpty)
        #expect(recovered.heads.map(\.activity.rawValue).sorted() == [1, 2, 11])
        #expect(recovered.heads.allSatisfy { $0.version == 4 })
        #expect(recovered.places[Sample.field] == LogPlace(command: 4, fact: 4))
        let name = ActivityKey(tenant: Sample.lab, id: SampleActivities.name(3))
        #expect(try await log.retired(named: [name]).map(\.version) == [4])
        await #expect(throws: EventLogError.duplicateKey(OldLog.key, seq: 2)) {
            _ = try await log.append(Sample.batch(Sample.event(2, after: 4, key: OldLog.key.key)))
        }
        await log.close()
    }

    @Test func `a damaged row ends it, and leaves no log`() async throws {
        let old = try await OldLog()
        try old.change("UPDATE fact SET kind = 'push.refused' WHERE seq = 4")
        #expect(try refusal(old.directory).contains("fact 4: its row is damaged; see all of it"))
    }

    @Test func `another schema is refused, and so is a log that a relay has open`() async throws {
        let old = try await OldLog()
        try old.change("PRAGMA user_version = 4")
        #expect(try refusal(old.directory).contains("it has schema 4"))
        try old.change("PRAGMA user_version = 99")
        #expect(try refusal(old.directory).contains("it has schema 99"))
        let place = SQLitePlace()
        let relay = try place.reopen()
        #expect(try refusal(place.directory).contains("another relay (process"))
        await relay.close()
        #expect(try refusal(place.directory).contains("it needs no import: tombolo serve --data"))
        try old.change("PRAGMA user_version = 5")
        do {
            _ = try old.place.reopen()
            Issue.record("a relay runs on it")
        } catch EventLogError.unusable(_, let hint) {
            #expect(hint.contains("tombolo log import --from-data DIR.old --data DIR"))
        }
    }
}
