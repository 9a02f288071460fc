import TomboloCore
import TomboloEventLog

/// Writes the rows of a batch. Keeps what is not written yet: chapters that are not full, and heads
/// whose rows are delayed.
struct LogRows: ~Copyable {
    private let engine: any LogWriting
    /// Rows of the open transaction, to be added to the window; nil if the window wants none.
    var newest: (events: NewestRows.Piece, facts: NewestRows.Piece)?
    private var buffer = RowBuffer()
    /// The chapter of the next event.
    private var chapter = LogChapter()
    var factChapter = FactChapter()
    /// Chapters of facts that the newest batch has filled, with the bytes of their facts.
    private(set) var filled: [(chapter: Int64, bytes: Int64)] = []
    /// Heads that have no row yet, or an outdated one.
    private(set) var later = LaterHeads()
    /// All rows of heads include the events up to this one; nil: all events. It may be too low.
    private(set) var heads: Int64?
    var keys = KeyChapters()
    private var retiredDays = RetiredDays()
    /// What the next piece of a cut may delete.
    private(set) var allowance = CutAllowance()

    init(_ engine: any LogWriting) { self.engine = engine }

    /// Takes over the result of recovery.
    mutating func recover(_ recovery: LogRecovery) throws(EventLogError) {
        (keys, later, heads) = (recovery.keys, recovery.later, recovery.cut.heads)
        try openChapters(after: recovery.standing.last)
    }

    private mutating func openChapters(after last: ByKind<Int64>) throws(EventLogError) {
        chapter = try LogChapter(after: last.event, engine)
        factChapter = try FactChapter(FactIndex.chapter(of: last.fact + 1), engine)
    }

    /// Writes all rows of a batch that `standing` has just placed.
    ///
    /// - Parameter slack: added to the events' times, because their steady time is not exact.
    mutating func write(
        _ batch: AppendBatch, at receipt: AppendReceipt, _ standing: inout Standing,
        slack: Span = .zero
    ) throws(EventLogError) {
        filled.removeAll(keepingCapacity: true)
        try writeTenants(&standing)
        try writeEvents(batch, at: receipt, &standing, slack)
        try writeHeads(batch, at: receipt, &standing)
        for index in batch.facts.indices {
            let seq = receipt.firstFactSeq + Int64(index)
            let (tenant, tenantSeq) = standing.factPlaces[index]
            let row = FactRow.encode(
                batch.facts[index], seq, tenantSeq: tenantSeq, tenant: tenant, into: &buffer)
            try engine.put(.fact, seq, row, over: .new)
            newest?.facts.add(seq, row)
            allowance.store(rows: 1, bytes: row.count)
            factChapter.add(seq, batch.facts[index], tenant: tenant)
            if seq % FactIndex.size == 0 {
                let number = FactIndex.chapter(of: seq)
                try factChapter.store(number, into: &buffer, engine)
                filled.append((number, factChapter.bytes))
                factChapter = FactChapter()
            }
        }
        for record in batch.records {
            let key = RecordRow.key(record)
            if let value = record.value {
                try engine.put(.record, key, buffer.row(.record, key, (), value))
            } else {
                try engine.delete(.record, key)
            }
        }
        // A retired activity was started again. The row of its name stays, but finds no head.
        for (activity, day) in standing.revived { try engine.delete(.retired(day), activity) }
        for retired in batch.retired { try retire(retired, &standing) }
        for activity in batch.replaced { try engine.delete(.head, activity.rawValue) }
        for waypoint in standing.seqs.takeNewWaypoints() {
            try waypoint.store(into: &buffer, engine)
        }
        if standing.seqs.isFarBehind(standing.last) { try writeTallies(&standing) }
    }

    /// Writes the rows of tenants whose stored numbers of events and facts are outdated.
    mutating func writeTallies(_ standing: inout Standing) throws(EventLogError) {
        for (tenant, row) in standing.seqs.takeBehind(upTo: standing.last) {
            try engine.put(.tally, tenant, buffer.row(.tally, tenant, row))
        }
    }

    private mutating func writeEvents(
        _ batch: AppendBatch, at receipt: AppendReceipt, _ standing: inout Standing, _ slack: Span
    ) throws(EventLogError) {
        // Access by index avoids copying the event, which would retain a dozen references.
        for index in batch.events.indices {
            let place = standing.places[index]
            let seq = receipt.firstSeq + Int64(index)
            let row = EventRow.encode(batch.events[index], seq, place, into: &buffer)
            try engine.put(.event, seq, row, over: .new)
            newest?.events.add(seq, row)
            allowance.store(rows: 1, bytes: row.count)
            let recordedAt = batch.events[index].recordedAt
            chapter.add(
                seq, tenant: place.tenant, kind: batch.events[index].kind.rawValue,
                recordedAt: recordedAt.nanoseconds)
            if batch.events[index].idempotency != nil {
                let steady = recordedAt - (batch.lead ?? .zero) + slack
                if let cutoff = keys.insert(place.hash, seq: seq, at: steady) {
                    standing.keys.expire(below: cutoff)
                }
            }
            if seq % LogChapter.size == 0 {
                let first = LogChapter.first(of: seq)
                try engine.put(.block, first, chapter.encode(first, into: &buffer))
                chapter = LogChapter()
                try keys.close(first, into: &buffer, engine)
            }
        }
    }

    private mutating func writeHeads(
        _ batch: AppendBatch, at receipt: AppendReceipt, _ standing: inout Standing
    ) throws(EventLogError) {
        for index in batch.heads.indices {
            let activity = batch.heads[index].activity
            let position = standing.positions.giveHead(activity.rawValue)
            if batch.heads[index].follows, position.hasHead {
                if later.isEmpty, later.savepoint == 0 {
                    heads = receipt.firstSeq - 1
                    try LogCut.storeHeads(heads, engine)
                }
                later.put(batch.heads[index])
            } else {
                try write(batch.heads[index], position)
                later.remove(activity.rawValue)
            }
            if position.needsSnapshot {
                try keep(batch.heads[index], position)
                standing.positions.giveSnapshot(activity.rawValue)
            }
        }
    }

    private mutating func write(
        _ head: ActivityHead, _ position: ActivityPosition
    ) throws(EventLogError) {
        try engine.put(
            .head, head.activity.rawValue, HeadRow.encode(head, position, into: &buffer),
            over: position.hasHead ? .changed : .any)
    }

    /// Writes all delayed heads. Call `settleLater` once this is durable.
    mutating func writeLater(_ standing: Standing) throws(EventLogError) {
        for head in later.all {
            try write(head, standing.positions.position(head.activity.rawValue))
        }
        try LogCut.storeHeads(nil, engine)
    }

    mutating func settleLater() {
        (later, heads) = (LaterHeads(), nil)
    }

    /// Call it when a piece of a cut is durable, or if there was nothing to cut.
    mutating func settleCut() {
        allowance = CutAllowance()
        keys.settleCut()
    }

    /// Call it when the written rows are durable.
    mutating func settle() { later.settle() }

    /// Stores a head as a snapshot. It must be the activity's current head.
    mutating func keep(_ head: ActivityHead, _ position: ActivityPosition) throws(EventLogError) {
        var numbers = SnapshotRow.Numbers(
            tenant: position.tenant, activity: head.activity.rawValue, version: position.version,
            previous: max(0, position.anchor), far: 0, recordedAt: 0)
        if let event = try engine.row(.event, position.seq, EventRow.numbers) {
            numbers.recordedAt = event.recordedAt
        }
        if let previous = try snapshot(at: numbers.previous) {
            let isNewGroup =
                SnapshotRow.group(previous.version) != SnapshotRow.group(position.version)
            numbers.far = isNewGroup ? numbers.previous : previous.far
        }
        let row = buffer.row(.snapshot, position.seq, numbers, head.value)
        try engine.put(.snapshot, position.seq, row)
    }

    private func snapshot(at seq: Int64) throws(EventLogError) -> SnapshotRow.Numbers? {
        seq > 0 ? try engine.row(.snapshot, seq, SnapshotRow.numbers) : nil
    }

    /// Sequence of the newest snapshot up to the activity's event at `seq`; 0 if there is none.
    func anchor(_ seq: Int64) -> Int64 {
        // A snapshot that cannot be read is not used.
        if (try? snapshot(at: seq)) != nil { return seq }
        return (try? engine.row(.event, seq, EventRow.numbers))?.anchor ?? 0  // Same for the event.
    }

    private mutating func retire(
        _ retired: RetiredActivity, _ standing: inout Standing
    ) throws(EventLogError) {
        let position = standing.positions.position(retired.activity.rawValue)
        guard position.tenant > 0 else { return }
        let hash = standing.hash(position.tenant, retired.name.rawValue)
        if let value = later.value(retired.activity.rawValue) {
            try write(ActivityHead(activity: retired.activity, content: value), position)
            later.remove(retired.activity.rawValue)
        }
        try retiredDays.retire(retired, hash: hash, engine)
        try engine.delete(.head, retired.activity.rawValue)
        standing.positions.set(retired.activity.rawValue, nil)
    }

    /// Writes rows for tenants that have none yet.
    mutating func writeTenants(_ standing: inout Standing) throws(EventLogError) {
        for (number, name) in standing.tenantTable.takeNew() { try put(number, name) }
    }

    /// Writes the row of a tenant. It may replace a damaged one.
    mutating func put(_ number: Int64, _ name: TenantID) throws(EventLogError) {
        let row = withBytes(of: name.name.rawValue) { buffer.row(.tenant, number, (), $0) }
        try engine.put(.tenant, number, row)
    }

    /// Writes the rebuilt rows of idempotency keys, and deletes rows that no log writes.
    mutating func put(_ repair: KeyChapters.Repair) throws(EventLogError) {
        for (first, chapter) in repair.made {
            try engine.put(.keys, first, chapter.encode(first, into: &buffer))
        }
        for stray in repair.strays { try engine.delete(.keys, stray) }
    }

    /// The event at `seq`, written in this transaction or earlier; nil if it is damaged or
    /// unreadable.
    func event(_ seq: Int64, tenants: Tenants) -> NewEvent? {
        // A row that cannot be read is treated as damaged.
        try? engine.row(.event, seq) { EventRow.event($0, $1, tenants: tenants)?.event }
    }

    /// Erases an activity. Only its position stays.
    mutating func bury(
        _ activity: Int64, _ position: ActivityPosition, on day: Int64, nameHash: UInt64?
    ) throws(EventLogError) {
        later.remove(activity)
        try retiredDays.bury(activity, position, on: day, nameHash: nameHash, engine)
    }

    func hasOldKeys(at instant: Instant) -> Bool { keys.hasOld(at: instant) }

    mutating func rolledBack(
        after last: ByKind<Int64>, _ maker: KeyChapter.Maker
    ) throws(EventLogError) {
        try keys.reopen(after: last.event, maker, engine)
        later.takeBack(to: 0)
        try openChapters(after: last)
    }
}
