import TomboloCore
package import TomboloEventLog

/// A running erasure. It works in pieces; other batches are appended between them.
///
/// Each piece is one transaction and may be repeated. After an interruption the erasure starts
/// again. An activity's head is erased last, because it leads to the other rows.
package struct LogErasing {
    private enum Stage {
        /// For a device: find starts after event `after` whose audience names the device.
        case starts(after: Int64)
        /// For a device: find heads after activity `after` that name it. `day` is the day on which
        /// the activities retired; nil means live ones. Live heads are examined first, so that a
        /// head that retires meanwhile is not missed.
        case heads(day: Int64?, after: Int64)
        /// Examine the rows of the activities from `index` on. `seq` is the current activity's next
        /// row, and `run` its newer rows of the same life.
        case ways(index: Int, seq: Int64? = nil, run: [Int64] = [])
        case facts(after: Int64)
        case done
    }

    let erasure: LogErasure
    private let tenant: Int64
    /// Days on which activities retired, newest first, as of this piece. Between pieces days may be
    /// added or deleted.
    private var days: [Int64] = []
    private var stage: Stage
    /// Events to erase before anything else, in reverse order.
    private var burying: [Int64] = []
    /// Activities whose rows are examined one after the other.
    private var activities: [Int64] = []
    private var known: Set<Int64> = []
    /// Activities that are erased whole.
    private var whole: Set<Int64> = []
    package private(set) var receipt = LogErased()

    init(_ erasure: LogErasure, tenant: Int64) {
        (self.erasure, self.tenant) = (erasure, tenant)
        switch erasure.subject {
        case .activity(let number):
            (activities, whole) = ([number.rawValue], [number.rawValue])
            stage = .ways(index: 0)
        case .device: stage = .starts(after: 0)
        }
    }

    /// True if only `LogWriter.finish` is left to do.
    package var isDone: Bool { if case .done = stage { true } else { false } }

    /// Does the next piece. Must be called within a transaction.
    mutating func piece(of writer: LogWriter) throws(EventLogError) {
        let piece = ErasingPiece(writer)
        days = try RetiredDays.days(piece.engine)
        guard burying.isEmpty else {
            // These may be many, so they get pieces of their own.
            while piece.hasRoom, let seq = burying.popLast() {
                if let row = try piece.numbers(seq) { try bury(seq, row, piece) }
            }
            return
        }
        switch stage {
        case .starts(let after): try findStarts(after, piece)
        case .heads(let day, let after): try findHeads(day, after, piece)
        case .ways(let index, let seq, let run):
            if index < activities.count {
                try go(index, seq, run, piece)
            } else {
                stage = .facts(after: 0)
            }
        case .facts(let after): try eraseFacts(after, piece)
        case .done: break
        }
    }

    private mutating func note(_ activity: Int64) {
        if known.insert(activity).inserted { activities.append(activity) }
    }

    // MARK: Finding a device

    private mutating func findStarts(
        _ after: Int64, _ piece: ErasingPiece
    ) throws(EventLogError) {
        guard case .device(let device) = erasure.subject else { return }
        try piece.engine.scan(.event, after: after) { seq, row in
            if let numbers = EventRow.unproved(row), numbers.tenant == tenant,
                numbers.kind == EventKind.start.rawValue,
                let proved = EventRow.numbers(seq, row)
            {
                let body = row.array(from: proved.bodyStart)
                if DeviceTrace.inStart(body, of: device) != .none { note(proved.activity) }
            }
            return piece.goesOn(after: seq, row.byteCount)
        }
        stage = piece.last.map { .starts(after: $0) } ?? .heads(day: nil, after: -1)
    }

    private mutating func findHeads(
        _ day: Int64?, _ after: Int64, _ piece: ErasingPiece
    ) throws(EventLogError) {
        let older = days.first { $0 < day ?? .max }
        let next = older.map { Stage.heads(day: $0, after: -1) }
        let end = next ?? .ways(index: 0)
        guard case .device(let device) = erasure.subject, day.map(days.contains) ?? true else {
            stage = end
            return
        }
        let table = LogTable.heads(of: day)
        var among: [(activity: Int64, head: HeadRow.Found)] = []
        try piece.engine.scan(table, after: after, upTo: .max) { activity, row in
            if let head = HeadRow.head(activity, row), head.position.tenant == tenant {
                let trace = DeviceTrace.inHead(head.value, of: device)
                if trace != .none { note(activity) }
                if trace == .alone { whole.insert(activity) }
                if trace == .among { among.append((activity, head)) }
            }
            return piece.goesOn(after: activity, row.byteCount)
        }
        for (activity, head) in among where !erasure.isTrial {
            let value = DeviceTrace.head(
                head.value, version: head.position.version, without: device)
            let left = ActivityHead(activity: ActivityNumber(activity), value: value)
            let row = HeadRow.encode(left, head.position, into: &piece.buffer)
            try piece.engine.put(table, activity, row, over: .changed)
        }
        stage = piece.last.map { .heads(day: day, after: $0) } ?? end
    }

    // MARK: Following an activity back

    private mutating func go(
        _ index: Int, _ from: Int64?, _ run: [Int64], _ piece: ErasingPiece
    ) throws(EventLogError) {
        let activity = activities[index]
        guard let (position, value) = try head(of: activity, piece), position.tenant == tenant
        else {
            whole.remove(activity)
            stage = .ways(index: index + 1)
            return
        }
        var (seq, run) = (from ?? position.seq, run)
        while piece.hasRoom, burying.isEmpty {
            guard let row = try piece.numbers(seq), row.activity == activity, row.previous < seq
            else {
                try finish(activity, position, value, piece)
                stage = .ways(index: index + 1)
                return
            }
            if whole.contains(activity) {
                try bury(seq, row, piece)
            } else {
                run.append(seq)
                if row.kind == EventKind.start.rawValue { try judge(&run, piece) }
            }
            seq = row.previous
        }
        stage = .ways(index: index, seq: seq, run: run)
    }

    /// The activity's newest event and its head; nil if there is none.
    private func head(
        of activity: Int64, _ piece: ErasingPiece
    ) throws(EventLogError) -> (ActivityPosition, [UInt8])? {
        for table in [LogTable.head] + days.map(LogTable.retired) {
            let found = try piece.engine.row(table, activity) {
                (HeadRow.position($0, $1), HeadRow.value($0, $1))
            }
            guard let (stored, value) = found else { continue }
            let live = piece.writer.standing.positions.position(activity)
            // A damaged head has no position, but memory knows that of a live activity.
            guard let position = live.seq > 0 ? live : stored else { return nil }
            return (position, value)
        }
        return nil
    }

    private mutating func bury(
        _ seq: Int64, _ row: EventRow.Numbers, _ piece: ErasingPiece
    ) throws(EventLogError) {
        guard !row.hasBeenErased else { return }
        if !erasure.isTrial { try piece.bury(seq, row) }
        receipt.events += 1
    }

    /// Decides about one life of the activity. `run` has its events, newest first, its start last.
    /// If the life was for this device alone, all is erased; if also for others, its start.
    private mutating func judge(
        _ run: inout [Int64], _ piece: ErasingPiece
    ) throws(EventLogError) {
        guard case .device(let device) = erasure.subject, let start = run.last else { return }
        let body = try piece.engine.row(.event, start) { seq, row in
            EventRow.numbers(seq, row).map { row.array(from: $0.bodyStart) }
        }
        switch DeviceTrace.inStart(body ?? [], of: device) {
        case .none: break
        case .alone: burying += run.reversed()
        case .among: burying.append(start)
        }
        run = []
    }

    private mutating func finish(
        _ activity: Int64, _ position: ActivityPosition, _ value: [UInt8], _ piece: ErasingPiece
    ) throws(EventLogError) {
        if !erasure.isTrial { try eraseSnapshots(of: activity, from: position.seq, piece) }
        guard whole.contains(activity), !value.isEmpty else { return }
        try eraseBehindDamage(activity, below: position.seq, piece)
        receipt.activities += 1
        guard !erasure.isTrial else { return }
        // Retire it on the day of its newest event. If this event was cut, day 0 is good enough.
        let newest = try piece.numbers(position.seq)?.recordedAt ?? 0
        let name = DecodedHead(value, version: position.version)?.key.id
        let writer = piece.writer
        try writer.rows.bury(
            activity, position, on: RetiredDays.day(Instant(nanoseconds: newest)),
            nameHash: name.map { writer.standing.hash(tenant, $0.rawValue) })
        writer.standing.positions.set(activity, nil)
    }

    /// A damaged row hides the previous events, so all rows before it are examined.
    private mutating func eraseBehindDamage(
        _ activity: Int64, below newest: Int64, _ piece: ErasingPiece
    ) throws(EventLogError) {
        var (seq, end) = (newest, newest)
        while let row = try piece.numbers(seq), row.activity == activity, row.previous < seq {
            (end, seq) = (seq, row.previous)
        }
        guard seq != newest, seq > piece.writer.retainer.cut.seq else { return }
        var left: [(Int64, EventRow.Numbers)] = []
        try piece.engine.scan(.event, after: 0, upTo: end - 1) { seq, row in
            if EventRow.unproved(row)?.activity == activity,
                let numbers = EventRow.numbers(seq, row)
            {
                left.append((seq, numbers))
            }
            return true
        }
        for (seq, numbers) in left { try bury(seq, numbers, piece) }
    }

    /// Erases the content of snapshots. Their rows stay, because they link to earlier ones.
    private func eraseSnapshots(
        of activity: Int64, from seq: Int64, _ piece: ErasingPiece
    ) throws(EventLogError) {
        let engine = piece.engine
        let isKept = try engine.row(.snapshot, seq, SnapshotRow.numbers) != nil
        var next = isKept ? seq : try piece.numbers(seq)?.anchor ?? 0
        while next > 0, let found = try engine.row(.snapshot, next, SnapshotRow.numbers),
            found.activity == activity, found.previous < next
        {
            let row = piece.buffer.row(.snapshot, next, found)
            try engine.put(.snapshot, next, row, over: .changed)
            next = found.previous
        }
    }

    // MARK: Facts

    private mutating func eraseFacts(
        _ after: Int64, _ piece: ErasingPiece
    ) throws(EventLogError) {
        let (writer, engine) = (piece.writer, piece.engine)
        let tenants = writer.standing.tenantTable
        let nothing = Array("{}".utf8)
        var found: [RecordedFact] = []
        try engine.scan(.fact, after: after) { seq, row in
            let fact =
                FactRow.unproved(row)?.tenant == tenant
                ? FactRow.fact(seq, row, tenants: tenants) : nil
            guard let fact, fact.fact.body != nothing, isMeant(fact.fact) else {
                return piece.goesOn(after: seq, 0)
            }
            found.append(fact)
            return piece.goesOn(after: seq, fact.fact.body.count)
        }
        receipt.facts += found.count
        stage = piece.last.map { .facts(after: $0) } ?? .done
        guard !erasure.isTrial else { return }
        let open = FactIndex.chapter(of: writer.standing.nextFactSeq)
        try FactIndex.erase(found, tenant: tenant, from: open, &writer.rows.factChapter, engine)
        for fact in found {
            var left = fact.fact
            left.body = nothing
            let row = FactRow.encode(
                left, fact.seq, tenantSeq: fact.tenantSeq, tenant: tenant, into: &piece.buffer)
            try engine.put(.fact, fact.seq, row, over: .changed)
        }
    }

    private func isMeant(_ fact: NewFact) -> Bool {
        if let activity = fact.activity, whole.contains(activity.rawValue) { return true }
        guard case .device(let device) = erasure.subject else { return false }
        return FactRecipient.isAbout(.device(device), fact.body)
    }
}
