import Glibc
import TomboloCore
package import TomboloEventLog
package import TomboloLog

/// Reads all items of a log with schema 5, to migrate old logs; `LogExport` does the same for the
/// current schema. It has its own copy of the old row decoders. Remove it with the next schema.
package final class SchemaFive {
    private let directory: DataDirectory
    private let path: String
    private let connection: Connection

    /// Opens the log in `directory` for reading. No relay can run on it while this object exists,
    /// because what it wrote would be lost.
    package init(directory: String) throws(EventLogError) {
        path = directory + "/tombolo.db"
        guard access(path, R_OK) == 0 else {
            throw .file(path, hint: "name the data directory, or the backup, of an older relay")
        }
        self.directory = try DataDirectory(reading: directory)
        connection = try Connection(path: path, access: .reading, uri: Self.sealed(path))
        let found = try LogSchema.version(of: connection)
        if found == LogSchema.version {
            throw .unusable(
                cause: "\(path) has this program's schema already, \(found)",
                hint: "it needs no import: tombolo serve --data \(directory)")
        }
        guard found == 5 else { throw LogSchema.other(found, path) }
    }

    /// `path` as the URI of a file that nobody changes, so that SQLite creates no files beside it.
    /// nil if a file beside it (the write-ahead log) still has some of its rows.
    private static func sealed(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        let path = String(cString: resolved)
        var status = stat()
        for end in ["-wal", "-journal"] where stat(path + end, &status) == 0 {
            if status.st_size > 0 { return nil }
        }
        let bytes = path.utf8.map { "%" + String(Int($0) + 0x100, radix: 16).dropFirst() }
        return "file:\(bytes.joined())?immutable=1"
    }

    /// Calls `take` with each item of the log as it is at one moment, in the order of an export.
    /// Throws at a damaged row, because the import would lose it.
    package func run(_ take: (LogItem) throws -> Void) throws {
        try connection.execute("BEGIN")
        var items: Int64 = 0
        try read { item in
            items += 1
            try take(item)
        }
        try take(.end(items: items))
        try connection.execute("COMMIT")
    }

    private func read(_ take: (LogItem) throws -> Void) throws {
        try take(try identity())
        let cut = try cut()
        try take(.cut(seq: cut.seq, fact: cut.fact, activity: cut.activity))
        for lead in cut.leads {
            try take(.lead(event: lead.event, fact: lead.fact, seconds: lead.seconds))
        }
        let tenants = try tenants()
        var last = try tallies(tenants)
        var tail = HeadTail()
        try each(
            "SELECT seq, e.row, s.crc, s.row FROM event e LEFT JOIN snapshot s USING(seq) ORDER BY seq"
        ) { row in
            let seq = row.integer(0)
            guard let event = EventRow.event(seq, row.bytes(1).bytes, tenants: tenants) else {
                throw damaged("event \(seq)")
            }
            if let heads = cut.heads, seq > heads { tail.add(event) }
            last[event.event.tenant, default: Tally()].meet(event: event.tenantSeq)
            try take(.event(event))
            var sum = RowChecksum(.snapshot)
            sum.add(seq)
            sum.add(row.bytes(3))
            // Skip a damaged snapshot: it is only an optimisation. The head follows six numbers.
            guard row.bytes(3).count >= 48, stored(sum) == row.integer(2) else { return }
            let value = Array(row.bytes(3).dropFirst(48))
            try take(.snapshot(event.event.activity, value: value, seq: seq))
        }
        try each(
            """
            SELECT seq, tenant, activity, recorded_at, crc, kind, body, tenant_seq
            FROM fact ORDER BY seq
            """
        ) { row in
            let fact = try fact(row, tenants)
            last[fact.fact.tenant, default: Tally()].meet(fact: fact.tenantSeq)
            try take(.fact(fact))
        }
        try readHeads(day: nil, tenants, tail, take)
        for day in try retiredDays() { try readHeads(day: day, tenants, HeadTail(), take) }
        let records = "SELECT key, crc, value FROM record ORDER BY key"
        try each(records) { try take(.record(try record($0))) }
        for name in tenants.all.compactMap(tenants.name) {
            let tally = last[name] ?? Tally()
            try take(.tally(name, event: tally.event, fact: tally.fact))
        }
    }

    // MARK: Its rows

    private func each(_ sql: String, _ take: (borrowing Statement) throws -> Void) throws {
        let row = try connection.prepare(sql)
        while try row.step() { try take(row) }
    }

    /// Highest numbers of a tenant's events and facts found so far.
    private struct Tally {
        private(set) var event: Int64 = 0
        private(set) var fact: Int64 = 0

        mutating func meet(event: Int64 = 0, fact: Int64 = 0) {
            (self.event, self.fact) = (max(self.event, event), max(self.fact, fact))
        }
    }

    private struct Cut {
        var seq: Int64 = 0
        var fact: Int64 = 0
        var activity: Int64 = 0
        /// Head rows include the events up to this one; nil if they include all.
        var heads: Int64?
        var leads: [(event: Int64, fact: Int64, seconds: Int64)] = []
    }

    private func identity() throws -> LogItem {
        var values: [String: [UInt8]] = [:]
        try each("SELECT name, crc, value FROM meta") { row in
            let name = String(decoding: row.bytes(0), as: UTF8.self)
            var sum = RowChecksum(.meta)
            sum.add(row.bytes(0))
            sum.add(row.bytes(2))
            guard stored(sum) == row.integer(1) else { throw damaged("\(name) of the log") }
            values[name] = Array(row.bytes(2))
        }
        let restored = values["restored_at"]
        guard let key = values["idempotency_hash_key"], key.count == 16, restored?.count ?? 8 == 8
        else { throw damaged("the key of the log's hashes") }
        return .identity(
            hashKey: [integer(key, 0), integer(key, 8)].map(UInt64.init(bitPattern:)),
            restoredAt: restored.map { Instant(nanoseconds: integer($0, 0)) })
    }

    private func cut() throws -> Cut {
        var cut = Cut()
        try each("SELECT name, value, crc FROM cut") { row in
            let (name, value) = (String(decoding: row.bytes(0), as: UTF8.self), row.integer(1))
            var sum = RowChecksum(.cut)
            sum.add(row.bytes(0))
            sum.add(value)
            guard stored(sum) == row.integer(2), (0...LogTable.numberMax).contains(value) else {
                throw damaged("where history was cut (\(name))")
            }
            let words = name.split(separator: " ")
            switch words.first {
            case "log": cut.seq = value
            case "fact": cut.fact = value
            case "activity": cut.activity = value
            case "heads": cut.heads = value
            default:
                // Format: lead EVENT FACT. The stored number has an offset, to be never negative.
                guard words.count == 3, let event = Int64(words[1]), let fact = Int64(words[2])
                else { throw damaged("where history was cut (\(name))") }
                cut.leads.append((event, fact, value - 1 << 40))
            }
        }
        cut.leads.sort { ($0.event, $0.fact) < ($1.event, $1.fact) }
        return cut
    }

    private func tenants() throws -> Tenants {
        var tenants = Tenants()
        try each("SELECT id, name, crc FROM tenant ORDER BY id") { row in
            let number = row.integer(0)
            var sum = RowChecksum(.tenant)
            sum.add(number)
            sum.add(row.bytes(1))
            guard stored(sum) == row.integer(2), (1...Int64(UInt32.max)).contains(number),
                let name = Identifier(String(decoding: row.bytes(1), as: UTF8.self))
            else { throw damaged("tenant \(number)") }
            tenants.recover(number, TenantID(name))
        }
        return tenants
    }

    /// The tallies of the tenants. They may not yet include the newest events and facts.
    private func tallies(_ tenants: Tenants) throws -> [TenantID: Tally] {
        var tallies: [TenantID: Tally] = [:]
        try each("SELECT tenant, event, fact, crc FROM tally") { row in
            let (tenant, event, fact) = (row.integer(0), row.integer(1), row.integer(2))
            var sum = RowChecksum(.tally)
            sum.add((tenant, event, fact))
            guard stored(sum) == row.integer(3), (0...LogTable.numberMax).contains(event),
                (0...LogTable.numberMax).contains(fact)
            else { throw damaged("how many events tenant \(tenant) has") }
            // Row 0 tells up to which event and fact the other rows are current.
            guard let name = tenants.name(tenant) else { return }
            tallies[name, default: Tally()].meet(event: event, fact: fact)
        }
        return tallies
    }

    /// Days with tables of retired activities, newest first.
    private func retiredDays() throws -> [Int64] {
        var days: [Int64] = []
        try each(
            "SELECT substr(name, 14) FROM sqlite_schema WHERE name GLOB 'retired_name_[0-9]*'"
        ) { row in days.append(row.integer(0)) }
        return days.sorted(by: >)
    }

    private func readHeads(
        day: Int64?, _ tenants: Tenants, _ tail: HeadTail, _ take: (LogItem) throws -> Void
    ) throws {
        try each(
            """
            SELECT activity, tenant, version, seq, crc, value, tenant_seq
            FROM \(day.map { "retired_\($0)" } ?? "head") ORDER BY activity
            """
        ) { row in
            let (stored, tenant) = try head(row, tenants)
            let head: RecoveredHead
            do throws(HeadTail.Gap) { head = try tail.follow(stored) } catch {
                throw damaged("activity \(row.integer(0)): \(error.reason)")
            }
            try take(.head(head, tenant, retiredDay: day))
        }
    }

    private func fact(_ row: borrowing Statement, _ tenants: Tenants) throws -> RecordedFact {
        let (seq, number, recordedAt) = (row.integer(0), row.integer(1), row.integer(3))
        let activity = row.isNull(2) ? nil : row.integer(2)
        let (kind, body) = (row.bytes(5), row.bytes(6))
        let place = row.isNull(7) ? seq : row.integer(7)
        var sum = RowChecksum(.fact)
        sum.add((seq, number, activity ?? 0, Int64(activity == nil ? 0 : 1), recordedAt))
        sum.add(Int64(kind.count))
        sum.add(kind)
        sum.add(body)
        if place != seq { sum.add(place) }
        guard stored(sum) == row.integer(4), place > 0, place <= seq,
            let tenant = tenants.name(number)
        else { throw damaged("fact \(seq)") }
        let fact = NewFact(
            tenant: tenant, activity: activity.map(ActivityNumber.init),
            kind: String(decoding: kind, as: UTF8.self),
            recordedAt: Instant(nanoseconds: recordedAt), body: Array(body))
        return RecordedFact(seq: seq, tenantSeq: place, fact: fact)
    }

    private func head(
        _ row: borrowing Statement, _ tenants: Tenants
    ) throws -> (RecoveredHead, TenantID) {
        let (activity, number, version) = (row.integer(0), row.integer(1), row.integer(2))
        let (seq, value) = (row.integer(3), row.bytes(5))
        let place = row.isNull(6) ? seq : row.integer(6)
        var sum = RowChecksum(.head)
        sum.add((activity, number, version, seq))
        sum.add(value)
        if place != seq { sum.add(place) }
        guard stored(sum) == row.integer(4), (0...LogTable.numberMax).contains(version),
            (0...LogTable.numberMax).contains(seq), (0...seq).contains(place),
            let tenant = tenants.name(number)
        else { throw damaged("the head of activity \(activity)") }
        let head = RecoveredHead(
            activity: ActivityNumber(activity), version: version, seq: seq, tenantSeq: place,
            value: Array(value))
        return (head, tenant)
    }

    private func record(_ row: borrowing Statement) throws -> Record {
        let (key, value) = (row.integer(0), row.bytes(2))
        var sum = RowChecksum(.record)
        sum.add(key)
        sum.add(value)
        guard stored(sum) == row.integer(1),
            let space = UInt8(exactly: key >> 48).flatMap(RecordSpace.init(rawValue:))
        else { throw damaged("record \(key)") }
        return Record(space: space, number: key & (1 << 48 - 1), value: Array(value))
    }

    private func stored(_ sum: RowChecksum) -> Int64 { Int64(Int32(bitPattern: sum.value)) }

    private func integer(_ bytes: [UInt8], _ offset: Int) -> Int64 {
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Int64.self) }
    }

    private func damaged(_ what: String) -> EventLogError {
        .unusable(
            cause: "\(path): \(what): its row is damaged",
            hint: "see all of it with tombolo log verify of the program that wrote it; then import "
                + "a backup instead, and restore that (tombolo backup restore)")
    }
}
