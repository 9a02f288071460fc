import TomboloCore
package import TomboloEventLog

/// Imports the items of an export into a new log. Sequences, versions, numbers and keys stay the
/// same. The log is imported completely or not at all.
package final class LogImport {
    /// Number of items that become durable together.
    private static let batchMax = 1_000
    private static let hint = "import a whole export, in its order"

    /// `finished` puts the complete log in place; `abandoned` removes an incomplete one.
    private let finished: () throws(EventLogError) -> Void
    private let abandoned: () -> Void
    /// The writer of the new log; nil once the import is complete.
    private var open: LogWriter?
    private var batch = AppendBatch()
    /// Activities seen so far, with numbers for their tenants. If an activity's first event has a
    /// version above 1, its earlier events were cut.
    private var met = NumberTable(empty: 0)
    private var tenants: [TenantID: Int] = [:]
    private var items: Int64 = 0
    /// True if this export must end with an `.end` item. Older exports have none.
    private var needsEnd = false
    private var hasEnded = false
    private var next = ByKind<Int64>(event: 1, fact: 1)
    private var places = ImportedPlaces()

    /// Imports into the log of `writer`, which must be new.
    package init(
        _ writer: LogWriter, finished: @escaping () throws(EventLogError) -> Void,
        abandoned: @escaping () -> Void
    ) throws(EventLogError) {
        (self.finished, self.abandoned) = (finished, abandoned)
        _ = try writer.recover(idempotencySince: .distantPast)
        open = writer
    }

    /// Removes an incomplete log.
    deinit {
        guard open != nil else { return }
        open = nil
        abandoned()
    }

    private var writer: LogWriter {
        get throws(EventLogError) {
            guard let open else { throw .closed }
            return open
        }
    }

    /// Imports the next item. Throws if it cannot follow the items before it.
    package func take(_ item: LogItem) throws(EventLogError) {
        if let fault = item.fault { throw refused(fault) }
        if hasEnded { throw refused("something comes after the end") }
        defer { items += 1 }
        switch item {
        case .identity(let hashKey, let restoredAt):
            guard items == 0 else { throw refused("the log's key comes first") }
            needsEnd = true
            try writer.adopt(hashKey, restoredAt: restoredAt)
        case .end(let items):
            guard items == self.items else {
                throw refused("it has \(self.items) items, and says that it has \(items)")
            }
            hasEnded = true
        case .lead(let event, let fact, let seconds):
            let writer = try writer
            let first = ByKind(event: event, fact: fact)
            try writer.retainer.cut.leads.add(.init(first: first, seconds: seconds), writer.engine)
        case .cut(let seq, let fact, let activity):
            guard items <= 1 else { throw refused("where history was cut comes first") }
            try writer.begin(afterSeq: seq, fact: fact, activity: activity)
            next = ByKind(event: seq + 1, fact: fact + 1)
        case .event(let recorded):
            try follow(.event, recorded.seq)
            let number = recorded.event.activity
            let version = recorded.event.expectedVersion
            if try isNew(number, of: recorded.event.tenant), version > 0 {
                try flush()
                try writer.adopt(
                    number, recorded.event.tenant, .init(version: version, seq: recorded.previous))
            }
            let lead = try writer.lead(event: recorded.seq)
            if lead != batch.lead, !batch.events.isEmpty { try flush() }
            batch.lead = lead
            batch.events.append(recorded.event)
            places.events.append(recorded.tenantSeq)
        case .snapshot(let activity, let value, let seq):
            try flush()
            guard try writer.keep(activity, value, at: seq) else {
                throw refused("the head kept at event \(seq) is of another activity")
            }
        case .fact(let recorded):
            try follow(.fact, recorded.seq)
            batch.facts.append(recorded.fact)
            places.facts.append(recorded.tenantSeq)
        case .head(let head, let tenant, let day):
            try takeHead(head, tenant, day)
        case .record(let record):
            batch.records.append(record)
        case .tally(let tenant, let event, let fact):
            try flush()
            try writer.count(tenant, event: event, fact: fact)
        }
        let count = batch.events.count + batch.facts.count + batch.heads.count + batch.records.count
        if count >= Self.batchMax { try flush() }
    }

    private func follow(_ kind: TenantSeqs.Kind, _ seq: Int64) throws(EventLogError) {
        guard seq == next[kind] else {
            throw .unusable(
                cause: "\(kind) \(seq) comes where \(next[kind]) should", hint: Self.hint)
        }
        next[kind] += 1
    }

    /// True if the activity appears for the first time. Throws if it belonged to another tenant.
    private func isNew(
        _ activity: ActivityNumber, of tenant: TenantID
    ) throws(EventLogError) -> Bool {
        let number = tenants[tenant] ?? tenants.count + 1
        tenants[tenant] = number
        guard let known = met[activity.rawValue] else {
            met[activity.rawValue] = number
            return true
        }
        guard known == number else {
            throw refused("activity \(activity.rawValue) is of two tenants")
        }
        return false
    }

    private func takeHead(
        _ head: RecoveredHead, _ tenant: TenantID, _ day: Int64?
    ) throws(EventLogError) {
        if try isNew(head.activity, of: tenant) {
            // All events of the activity were cut, so only the head gives its position.
            try flush()
            try writer.adopt(
                head.activity, tenant,
                .init(version: head.version, seq: head.seq, tenantSeq: head.tenantSeq))
        }
        if head.value.isEmpty, let day {
            try flush()
            return try writer.bury(head.activity, on: day)
        }
        batch.heads.append(ActivityHead(activity: head.activity, value: head.value))
        guard let day, let name = DecodedHead(head.value, version: head.version)?.key.id else {
            return
        }
        let endedAt = Instant(nanoseconds: 0) + .hours(24 * day)
        batch.retired.append(RetiredActivity(activity: head.activity, name: name, endedAt: endedAt))
    }

    /// Makes the log durable and closes it.
    package func finish() throws(EventLogError) {
        guard items > 0 else { throw refused("the export is empty") }
        guard hasEnded || !needsEnd else {
            throw .unusable(
                cause: "the export is cut off: its last line is missing",
                hint: "export the log again, and import all of that")
        }
        try flush()
        try writer.complete()
        open = nil
        try finished()
    }

    private func flush() throws(EventLogError) {
        guard !batch.isEmpty else { return }
        let (waiting, places) = (batch, self.places)
        batch = AppendBatch()
        self.places = ImportedPlaces()
        for answer in try writer.store([waiting], as: places) {
            guard case .failure(let error) = answer else { continue }
            guard case .versionConflict(let activity, let expected, let actual) = error else {
                throw error
            }
            throw refused(
                "version \(expected + 1) of activity \(activity.rawValue) comes after \(actual)")
        }
        try writer.checkpointIfDue()
    }

    private func refused(_ what: String) -> EventLogError {
        .unusable(cause: "item \(items + 1): \(what)", hint: Self.hint)
    }
}

extension LogItem {
    /// Why no log can contain this item; nil if it is possible.
    fileprivate var fault: String? {
        let seqs = 0...LogTable.numberMax
        let activities = 0..<ActivityNumber.max
        let isPossible =
            switch self {
            case .identity(let hashKey, _): hashKey.count == 2
            case .cut(let seq, let fact, let activity):
                seqs.contains(seq) && seqs.contains(fact) && activities.contains(activity)
            case .lead(let event, let fact, let seconds):
                seqs.contains(event) && seqs.contains(fact) && ClockLeads.range.contains(seconds)
            case .event(let recorded):
                seqs.contains(recorded.seq)
                    && (0..<LogTable.numberMax).contains(recorded.event.expectedVersion)
                    && activities.contains(recorded.event.activity.rawValue)
                    && recorded.previous >= 0 && recorded.previous < recorded.seq
                    && recorded.tenantSeq > 0 && recorded.tenantSeq <= recorded.seq
                    && recorded.event.idempotency?.key.utf8.count ?? 0 <= EventRow.keyBytesMax
            case .snapshot(let activity, _, let seq):
                seqs.contains(seq) && activities.contains(activity.rawValue)
            case .fact(let recorded):
                seqs.contains(recorded.seq) && recorded.tenantSeq > 0
                    && recorded.tenantSeq <= recorded.seq
                    && recorded.fact.kind.utf8.count <= FactRow.kindBytesMax
            case .head(let head, _, let day):
                activities.contains(head.activity.rawValue) && seqs.contains(head.version)
                    && seqs.contains(head.seq) && (0...head.seq).contains(head.tenantSeq)
                    && (0...1_000_000).contains(day ?? 0)
            case .record(let record):
                (0...RecordRow.numberMax).contains(record.number) && record.value != nil
            case .tally(_, let event, let fact): seqs.contains(event) && seqs.contains(fact)
            case .end: true
            }
        return isPossible ? nil : "no log can have it"
    }
}
