import TomboloCore
package import TomboloEventLog

/// Reads a whole log at one moment and reports errors: gaps, checksums, versions, back pointers,
/// and heads that do not match the events.
///
/// A relay may write meanwhile: the verification does not see these writes. Memory grows with the
/// number of concurrent activities, not with the log's length.
package final class LogVerification {
    /// Result of the verification.
    package struct Verdict: Sendable {
        package var events: Int64 = 0
        package var facts: Int64 = 0
        package var heads: Int64 = 0
        package var retired: Int64 = 0
        package var records: Int64 = 0
        /// Events up to this sequence were cut.
        package var cut: Int64 = 0
        /// Sequence of the newest event.
        package var lastSeq: Int64 = 0
        /// One line for each error; at most `linesMax` lines.
        package var wrong: [String] = []
        /// Number of all errors, including those that have no line.
        package var wrongCount = 0

        package static let linesMax = 100

        package init() {}

        /// Adds an error; nil adds nothing.
        package mutating func add(_ line: String?) {
            guard let line else { return }
            wrongCount += 1
            if wrong.count < Self.linesMax { wrong.append(line) }
        }
    }

    /// An activity that is being followed from its first event to the newest that its head
    /// includes.
    private struct Open {
        var version: Int64
        var seq: Int64
        /// The state rebuilt from the events; nil if the first events were cut or one is damaged.
        var fold: ActivityFold?
        /// Version of the activity's head row.
        var last: Int64
        var value: [UInt8]
    }

    let engine: any LogReading
    private(set) var tenants = Tenants()
    private var verdict = Verdict()
    private var open: [Int64: Open] = [:]
    /// The newest event seen of activities that have events after their head's row.
    private var behind: [Int64: (version: Int64, seq: Int64)] = [:]
    private var cut = LogCut()
    private var seqs = TenantSeqVerification()

    package init(_ engine: any LogReading) { self.engine = engine }

    /// Verifies the log. From time to time calls `progress` with the number of events read so far.
    package func run(_ progress: (Int64) -> Void) throws(EventLogError) -> Verdict {
        try engine.atOneMoment { () throws(EventLogError) in
            verdict.add(try engine.fault())
            tenants = try Tenants.read(engine) { verdict.add($0) }
            seqs = try TenantSeqVerification(engine)
            cut = try LogCut(engine) { verdict.add($0) }
            verdict.cut = cut.seq
            verdict.add(cut.headsLost)
            try readEvents(progress)
            try readFacts()
            try readHeads()
            try readRest()
            return verdict
        }
    }

    /// Calls `take` for all events, or all facts. Reports missing ones, returns the last sequence.
    private func forEach(
        _ kind: TenantSeqs.Kind, _ take: (Int64, RawSpan) throws(EventLogError) -> Void
    ) throws(EventLogError) -> Int64 {
        var last = cut[kind]
        try engine.forEach(kind == .event ? .event : .fact) { seq, row throws(EventLogError) in
            guard FactIndex.isPlace(seq) else {
                return verdict.add("row \(seq) of the \(kind)s: no log gave that number")
            }
            if seq != last + 1 {
                verdict.add("\(kind)s \(last + 1) to \(seq - 1) are missing")
            }
            last = seq
            try take(seq, row)
        }
        return last
    }

    // MARK: Events

    private func readEvents(_ progress: (Int64) -> Void) throws(EventLogError) {
        let openChapter = LogChapter.first(of: try engine.newest(.event) + 1)
        verdict.lastSeq = try forEach(.event) { seq, row throws(EventLogError) in
            verdict.events += 1
            if verdict.events % 100_000 == 0 { progress(verdict.events) }
            guard let event = EventRow.event(seq, row, tenants: tenants) else {
                var activity: String?
                if let number = EventRow.unproved(row)?.activity {
                    activity = try ActivityTitles.title(number, engine)
                }
                let line = EventRow.damageLine(seq, row, tenants: tenants, activity: activity)
                // Start-up builds the newest chapter's keys from its events, so a damaged event's
                // key is lost.
                let key = "; its idempotency key, if it had one, counts no longer"
                // The event itself cannot be checked. Its activity's versions show the gap.
                return verdict.add(line + (seq >= openChapter ? key : ""))
            }
            verdict.add(event.event.fault.map { "event \(seq): \($0)" })
            verdict.add(seqs.follow(.event, event.event.tenant, event.tenantSeq, at: seq))
            try follow(event)
        }
        for (activity, left) in open.sorted(by: { $0.key < $1.key }) {
            try close(activity, left)
        }
    }

    private func follow(_ event: RecordedEvent) throws(EventLogError) {
        let activity = event.event.activity.rawValue
        var entry: Open
        if let known = open[activity] {
            entry = known
            if !check(event, after: (entry.version, entry.seq)) { entry.fold = nil }
        } else if let new = try begin(event) {
            entry = new
        } else {
            return
        }
        entry.version = event.version
        entry.seq = event.seq
        // If the body has a fault, it is already reported.
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

    /// State for an activity whose first event is `event`; nil if its head does not include the
    /// event or was erased.
    private func begin(_ event: RecordedEvent) throws(EventLogError) -> Open? {
        let activity = event.event.activity.rawValue
        guard let head = try engine.head(of: activity) else {
            if event.seq > verdict.cut, cut.activity < activity {
                verdict.add("event \(event.seq): activity \(activity) has no head")
            }
            return nil
        }
        if let heads = cut.heads, event.seq > heads, event.version > head.position.version {
            // The event is newer than the head's row, because the row is delayed.
            _ = check(event, after: behind[activity] ?? (head.position.version, head.position.seq))
            behind[activity] = (event.version, event.seq)
            return nil
        }
        // An erased activity has no state that could be compared.
        guard !head.value.isEmpty else { return nil }
        let isWhole = event.version == 1
        if !isWhole, event.previous > verdict.cut {
            verdict.add("event \(event.seq): version \(event.version) is activity's first")
        }
        return Open(
            version: 0, seq: 0, fold: isWhole ? ActivityFold() : nil, last: head.position.version,
            value: head.value)
    }

    /// Checks that an event follows its activity's previous event; reports it if not.
    private func check(
        _ event: RecordedEvent, after before: (version: Int64, seq: Int64)
    ) -> Bool {
        if event.previous == before.seq, event.version == before.version + 1 { return true }
        verdict.add(
            "event \(event.seq): version \(event.version) after \(event.previous) follows "
                + "version \(before.version) at \(before.seq)")
        return false
    }

    private func close(_ activity: Int64, _ entry: Open) throws(EventLogError) {
        if entry.version != entry.last {
            let end = entry.version < entry.last ? "end at" : "at"
            verdict.add(
                "\(try ActivityTitles.title(activity, engine)): its head is at version "
                    + "\(entry.last), its events \(end) \(entry.version)")
        } else if let wrong = entry.fold?.difference(fromHead: entry.value, version: entry.last) {
            verdict.add("the head of \(try ActivityTitles.title(activity, engine)): \(wrong)")
        }
    }

    // MARK: The rest

    private func readFacts() throws(EventLogError) {
        var index = try FactIndexVerification(cut, engine)
        _ = try forEach(.fact) { seq, row throws(EventLogError) in
            verdict.facts += 1
            try index.follow(seq, row) { verdict.add($0) }
            if let fact = FactRow.fact(seq, row, tenants: tenants) {
                verdict.add(seqs.follow(.fact, fact.fact.tenant, fact.tenantSeq, at: seq))
            } else {
                verdict.add("fact \(seq): its row is damaged")
            }
        }
        try index.finish { verdict.add($0) }
    }

    private func readHeads() throws(EventLogError) {
        let tables = [LogTable.head] + (try RetiredDays.days(engine)).map(LogTable.retired)
        for table in tables {
            try engine.forEach(table) { activity, row throws(EventLogError) in
                if table == .head { verdict.heads += 1 } else { verdict.retired += 1 }
                verdict.add(try fault(activity, row))
            }
        }
    }

    /// The error in a row of a head; nil if there is none.
    private func fault(_ activity: Int64, _ row: RawSpan) throws(EventLogError) -> String? {
        guard let head = HeadRow.head(activity, row) else {
            let title = ActivityTitles.title(activity, HeadRow.value(activity, row))
            return "the head of \(title): its row is damaged"
        }
        let position = head.position
        // The head of an erased activity is empty.
        if !head.value.isEmpty,
            let fault = ActivityHead.fault(in: head.value, version: position.version)
        {
            verdict.add("the head of activity \(activity) cannot be read: \(fault)")
        }
        guard position.seq > verdict.cut else { return nil }
        guard let numbers = try engine.row(.event, position.seq, EventRow.numbers),
            numbers.activity == activity, numbers.version == position.version
        else { return "the head of activity \(activity): event \(position.seq) is not its own" }
        return nil
    }

    /// Checks the rows of blocks and snapshots, and that each block's summary includes its events.
    private func readStones() throws(EventLogError) {
        try engine.forEach(.block) { first, row throws(EventLogError) in
            guard (1...LogTable.numberMax).contains(first) else {
                return verdict.add("block \(first): no log gave that number")
            }
            guard let chapter = LogChapter(first, row) else {
                return verdict.add("block \(first): its row is damaged")
            }
            try check(chapter, first)
        }
        try engine.scan(.snapshot) { seq, row in
            if SnapshotRow.numbers(seq, row) == nil {
                verdict.add("snapshot \(seq): its row is damaged")
            }
            return true
        }
    }

    private func check(_ chapter: LogChapter, _ first: Int64) throws(EventLogError) {
        try engine.scan(.event, first...LogChapter.last(of: first)) { seq, row in
            guard let row = EventRow.unproved(row) else { return true }
            let at = Instant(nanoseconds: row.recordedAt)
            let until = Instant(nanoseconds: row.recordedAt &+ 1)
            let kind = EventKind(rawValue: row.kind)
            if !chapter.block(of: seq).mayHave(row.tenant, kind, from: at, until: until) {
                let block = (seq - 1) / RowBlock.size * RowBlock.size + 1
                verdict.add("block \(block): event \(seq) is passed over")
            }
            return true
        }
    }

    private func readRest() throws(EventLogError) {
        try engine.scan(.record) { key, row in
            verdict.records += 1
            let name = RecordRow.title(key)
            let record = RecordRow.record(key, row)
            let fault: String? = record.map(\.fault) ?? "its row is damaged"
            verdict.add(fault.map { "\(name): \($0)" })
            return true
        }
        try readStones()
        seqs.finish(tenants, cut) { verdict.add($0) }
        try readKeys()
        for day in try RetiredDays.days(engine) {
            try engine.scan(.retiredName(day)) { hash, row in
                if RetiredNameRow.activities(hash, row) == nil {
                    verdict.add(
                        "a name of activities that retired on day \(day): its row is damaged")
                }
                return true
            }
        }
    }

    private func readKeys() throws(EventLogError) {
        guard try LogMeta.hashKey(engine) != nil else {
            return verdict.add("the key of the hash of idempotency keys: its row is damaged")
        }
        let hash = try LogMeta.hash(engine)
        var keys = KeyChapters()
        _ = try keys.recover(
            since: .distantPast, cut, last: max(verdict.lastSeq, cut.seq),
            KeyChapter.Maker(hash: hash, leads: cut.leads), engine,
            damage: { verdict.add($0) }, take: { _, _, _ in })
    }
}
