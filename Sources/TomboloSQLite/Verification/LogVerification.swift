import TomboloCore
package import TomboloEventLog

/// Reads all of a log, of one moment, and says what is wrong with it: gaps, checksums, versions and
/// back pointers, and heads that are not what their events come to.
///
/// A relay may write meanwhile; what it writes is kept beside the database until this is through.
/// Memory grows with the activities that run at one moment of the log, not with its length.
package final class LogVerification {
    /// What was found.
    package struct Verdict: Sendable {
        package var events: Int64 = 0
        package var facts: Int64 = 0
        package var heads: Int64 = 0
        package var retired: Int64 = 0
        package var records: Int64 = 0
        /// Up to this sequence history was cut.
        package var cut: Int64 = 0
        /// The newest event.
        package var lastSeq: Int64 = 0
        /// One line each, at most `linesMax`.
        package var wrong: [String] = []
        /// With those that have no line.
        package var wrongCount = 0

        package static let linesMax = 100

        package init() {}

        /// One thing more is wrong.
        package mutating func add(_ line: String) {
            wrongCount += 1
            if wrong.count < Self.linesMax { wrong.append(line) }
        }
    }

    /// An activity between its first event and its newest.
    private struct Open {
        var version: Int64
        var seq: Int64
        /// nil where its beginning was cut, or a row of it is damaged.
        var fold: ActivityFold?
        /// Where its head stands.
        var last: Int64
        var value: [UInt8]
    }

    private let path: String
    let connection: Connection
    private(set) var tenants = Tenants()
    private var verdict = Verdict()
    private var open: [Int64: Open] = [:]
    /// Of activities that have events behind their heads: the newest of those.
    private var behind: [Int64: (version: Int64, seq: Int64)] = [:]
    private var cut = LogCut()
    private var seqs = TenantSeqVerification()
    private var titles = ActivityTitles(HeadFinder([]))

    /// Opens the database at `path`, which is there, and changes nothing in it.
    /// `vfs` is for tests.
    package init(path: String, vfs: String? = nil) throws(EventLogError) {
        self.path = path
        do throws(SQLiteError) {
            connection = try Connection(path: path, access: .reading, vfs: vfs)
        } catch {
            throw error.unusable(path)
        }
    }

    /// Reads everything. `progress` is told the events read so far, now and then.
    package func run(_ progress: (Int64) -> Void) throws(EventLogError) -> Verdict {
        do throws(SQLiteError) {
            try LogSchema.requireCurrent(connection)
            try connection.execute("BEGIN")
            let structure = try connection.text("PRAGMA quick_check(1)") ?? ""
            if structure != "ok" { verdict.add("SQLite: \(structure)") }
            tenants = try Tenants.read(connection) { verdict.add($0) }
            seqs = try TenantSeqVerification(connection)
            try readEvents(progress)
            try readFacts()
            try readHeads()
            try readRest()
            try connection.execute("COMMIT")
            return verdict
        } catch {
            throw error.unusable(path)
        }
    }

    // MARK: Events

    private func readEvents(_ progress: (Int64) -> Void) throws(SQLiteError) {
        cut = try LogCut(connection) { verdict.add($0) }
        verdict.cut = cut.seq
        if let line = cut.headsLost { verdict.add(line) }
        var expected = cut.seq + 1
        let rows = try connection.prepare(LogTable.event.selection("ORDER BY key"))
        let newest = try connection.integer("SELECT max(key) FROM event")
        let openChapter = LogChapter.first(of: min(newest, LogSchema.numberMax) + 1)
        let heads = HeadFinder(try RetiredDays.days(connection))
        titles = ActivityTitles(heads)
        while try rows.step() {
            let seq = rows.key
            guard (1...LogSchema.numberMax).contains(seq) else {
                verdict.add("row \(seq) of the events: no log gave that number")
                continue
            }
            if seq != expected { verdict.add("events \(expected) to \(seq - 1) are missing") }
            expected = seq + 1
            verdict.events += 1
            if verdict.events % 100_000 == 0 { progress(verdict.events) }
            guard let event = rows.read({ EventRow.event($0, $1, tenants: tenants) }) else {
                let number = EventRow.unproved(rows.row.bytes)?.activity
                let activity = try number.map { number throws(SQLiteError) in
                    try titles.title(number, connection)
                }
                let line = rows.read {
                    EventRow.damageLine($0, $1, tenants: tenants, activity: activity)
                }
                // Start-up makes the keys of the newest chapter from its events.
                let key = "; its idempotency key, if it had one, counts no longer"
                verdict.add(line + (seq >= openChapter ? key : ""))
                // What it did is not known: its activity's versions tell that one is missing.
                continue
            }
            if let fault = event.event.fault { verdict.add("event \(seq): \(fault)") }
            if let wrong = seqs.follow(event) { verdict.add(wrong) }
            try follow(event, heads)
        }
        verdict.lastSeq = expected - 1
        for (activity, left) in open.sorted(by: { $0.key < $1.key }) {
            let title = try titles.title(activity, connection)
            verdict.add(
                "\(title): its head is at version \(left.last), its events end at "
                    + "\(left.version)")
        }
    }

    private func follow(_ event: RecordedEvent, _ heads: HeadFinder) throws(SQLiteError) {
        let activity = event.event.activity.rawValue
        var entry: Open
        if let known = open[activity] {
            entry = known
            if event.previous != entry.seq || event.version != entry.version + 1 {
                verdict.add(
                    "event \(event.seq): version \(event.version) after \(event.previous) follows "
                        + "version \(entry.version) at \(entry.seq)")
                entry.fold = nil
            }
        } else {
            guard let head = try heads.find(activity, connection) else {
                if event.seq > verdict.cut, cut.activity < activity {
                    verdict.add("event \(event.seq): activity \(activity) has no head")
                }
                return
            }
            if let heads = cut.heads, event.seq > heads, event.version > head.mark.version {
                return follow(event, behind: head)
            }
            // Of an activity that was erased, only that its events are there is known.
            guard !head.value.isEmpty else { return }
            let isWhole = event.version == 1
            if !isWhole, event.previous > verdict.cut {
                verdict.add("event \(event.seq): version \(event.version) is activity's first")
            }
            entry = Open(
                version: 0, seq: 0, fold: isWhole ? ActivityFold() : nil,
                last: head.mark.version,
                value: head.value)
        }
        entry.version = event.version
        entry.seq = event.seq
        // The report has what is wrong with its body.
        if entry.fold?.apply(event) != nil {
            if event.event.fault == nil { verdict.add("event \(event.seq) follows no start") }
            entry.fold = nil
        }
        guard entry.version >= entry.last else {
            open[activity] = entry
            return
        }
        open[activity] = nil
        try close(activity, entry)
    }

    /// One of the newest events, whose activity's head has no new row yet.
    private func follow(_ event: RecordedEvent, behind head: HeadRow.Found) {
        let activity = event.event.activity.rawValue
        let before = behind[activity] ?? (head.mark.version, head.mark.seq)
        if event.previous != before.seq || event.version != before.version + 1 {
            verdict.add(
                "event \(event.seq): version \(event.version) after \(event.previous) follows "
                    + "version \(before.version) at \(before.seq)")
        }
        behind[activity] = (event.version, event.seq)
    }

    private func close(_ activity: Int64, _ entry: Open) throws(SQLiteError) {
        if entry.version != entry.last {
            let title = try titles.title(activity, connection)
            verdict.add(
                "\(title): its head is at version \(entry.last), its events at "
                    + "\(entry.version)")
        } else if let wrong = entry.fold?.difference(fromHead: entry.value, version: entry.last) {
            verdict.add("the head of \(try titles.title(activity, connection)): \(wrong)")
        }
    }

    // MARK: The rest

    private func readFacts() throws(SQLiteError) {
        var expected = cut.fact + 1
        var index = try FactIndexVerification(cut, connection)
        let rows = try connection.prepare(LogTable.fact.selection("ORDER BY key"))
        while try rows.step() {
            let seq = rows.key
            guard FactIndex.isPlace(seq) else {
                verdict.add("row \(seq) of the facts: no log gave that number")
                continue
            }
            if seq != expected { verdict.add("facts \(expected) to \(seq - 1) are missing") }
            expected = seq + 1
            verdict.facts += 1
            for line in try index.follow(rows) { verdict.add(line) }
            guard let fact = rows.read({ FactRow.fact($0, $1, tenants: tenants) }) else {
                verdict.add("fact \(seq): its row is damaged")
                continue
            }
            if let wrong = seqs.follow(fact) { verdict.add(wrong) }
        }
        for line in try index.finish(connection) { verdict.add(line) }
    }

    private func readHeads() throws(SQLiteError) {
        let tables = [LogTable.head] + (try RetiredDays.days(connection)).map(LogTable.retired)
        let event = try connection.prepare(LogTable.event.one)
        for table in tables {
            let rows = try connection.prepare(table.selection())
            while try rows.step() {
                if table == .head { verdict.heads += 1 } else { verdict.retired += 1 }
                let activity = rows.key
                guard let head = rows.read(HeadRow.head) else {
                    let title = ActivityTitles.title(activity, rows.read(HeadRow.value))
                    verdict.add("the head of \(title): its row is damaged")
                    continue
                }
                let mark = head.mark
                // Of an activity that was erased, only that its events are there is known.
                if !head.value.isEmpty,
                    let fault = ActivityHead.fault(in: head.value, version: mark.version)
                {
                    verdict.add("the head of activity \(activity) cannot be read: \(fault)")
                }
                guard mark.seq > verdict.cut else { continue }
                guard let numbers = try event.find(mark.seq, EventRow.numbers),
                    numbers.activity == activity, numbers.version == mark.version
                else {
                    verdict.add(
                        "the head of activity \(activity): event \(mark.seq) is not its own")
                    continue
                }
            }
        }
    }

    /// Blocks and snapshots: each row, and that a block has what is in it.
    private func readStones() throws(SQLiteError) {
        let blocks = try connection.prepare(LogTable.block.selection("ORDER BY key"))
        let events = try connection.prepare(
            LogTable.event.selection("WHERE key >= ?1 AND key < ?2"))
        while try blocks.step() {
            let first = blocks.key
            guard let chapter = blocks.read(LogChapter.init) else {
                verdict.add("block \(first): its row is damaged")
                continue
            }
            try chapter.forEach { offset, block throws(SQLiteError) in
                try check(block, first: first + offset, events)
            }
        }
        let snapshots = try connection.prepare(LogTable.snapshot.selection())
        while try snapshots.step() {
            guard snapshots.read(SnapshotRow.numbers) == nil else { continue }
            verdict.add("snapshot \(snapshots.key): its row is damaged")
        }
    }

    private func check(
        _ block: LogBlock, first: Int64, _ events: borrowing Statement
    ) throws(SQLiteError) {
        events.bind(first, at: 1)
        events.bind(first + LogBlock.size, at: 2)
        defer { events.reset() }
        while try events.step() {
            guard let row = EventRow.unproved(events.row.bytes) else { continue }
            let at = Instant(nanoseconds: row.recordedAt)
            let until = Instant(nanoseconds: row.recordedAt &+ 1)
            let kind = EventKind(rawValue: row.kind)
            if !block.mayHave(row.tenant, kind, from: at, until: until) {
                verdict.add("block \(first): event \(events.key) is passed over")
            }
        }
    }

    private func readRest() throws(SQLiteError) {
        let records = try connection.prepare(LogTable.record.selection())
        while try records.step() {
            verdict.records += 1
            let name = RecordRow.title(records.key)
            guard let record = records.read(RecordRow.record) else {
                verdict.add("\(name): its row is damaged")
                continue
            }
            if let fault = record.fault { verdict.add("\(name): \(fault)") }
        }
        try readStones()
        for line in seqs.finish(tenants, cut) { verdict.add(line) }
        try readKeys()
        for day in try RetiredDays.days(connection) {
            let names = try connection.prepare(LogTable.retiredName(day).selection())
            while try names.step() {
                guard names.read(RetiredNameRow.activities) == nil else { continue }
                verdict.add("a name of activities that retired on day \(day): its row is damaged")
            }
        }
    }

    private func readKeys() throws(SQLiteError) {
        let hash: KeyedHash
        do throws(SQLiteError) { hash = try LogMeta.hash(connection) } catch {
            return verdict.add("the key of the hash of idempotency keys: its row is damaged")
        }
        var keys = KeyChapters()
        _ = try keys.recover(
            since: .distantPast, cut, last: max(verdict.lastSeq, cut.seq),
            KeyChapter.Maker(hash: hash, leads: cut.leads), connection,
            damage: { verdict.add($0) }, take: { _, _, _ in })
    }
}
