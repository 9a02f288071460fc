import TomboloCore
package import TomboloEventLog

/// Takes the items of an export into a new log: sequences, versions, numbers and keys stay as they
/// were.
package final class LogImport {
    /// So many items become durable together.
    private static let batchMax = 1_000

    private let directory: DataDirectory
    private let writer: LogWriter
    private var batch = AppendBatch()
    /// Activities met so far: one whose first event here is not its first began before the cut.
    private var met = NumberTable(empty: false)
    private var nextSeq: Int64 = 1
    private var nextFact: Int64 = 1
    private var places = ImportedPlaces()

    /// Makes the log in `directory`, which holds none.
    package init(
        directory: String, chance: inout some RandomNumberGenerator
    ) throws(EventLogError) {
        self.directory = try DataDirectory(directory)
        try self.directory.createDatabase()
        writer = try LogWriter(path: self.directory.databasePath, chance: &chance)
        let recovered = try writer.recover(idempotencySince: .distantPast)
        guard recovered.lastSeq == 0, recovered.heads.isEmpty, recovered.records.isEmpty else {
            throw .unusable(
                cause: "there is a log in \(directory) already",
                hint: "import into a directory of its own: --data DIR")
        }
    }

    /// Takes the next item. Throws where it cannot follow those before it.
    package func take(_ item: LogItem) throws(EventLogError) {
        switch item {
        case .cut(let seq, let fact, let activity):
            try writer.begin(afterSeq: seq, fact: fact, activity: activity)
            (nextSeq, nextFact) = (seq + 1, fact + 1)
        case .event(let recorded):
            guard recorded.seq == nextSeq else { throw gap("event", recorded.seq, nextSeq) }
            nextSeq += 1
            let number = recorded.event.activity
            if met[number.rawValue] == nil {
                met[number.rawValue] = true
                if recorded.event.expectedVersion > 0 {
                    try flush()
                    try writer.adopt(
                        number, recorded.event.tenant, version: recorded.event.expectedVersion,
                        seq: recorded.previous, tenantSeq: 0)
                }
            }
            batch.events.append(recorded.event)
            places.events.append(recorded.tenantSeq)
        case .fact(let recorded):
            guard recorded.seq == nextFact else { throw gap("fact", recorded.seq, nextFact) }
            nextFact += 1
            batch.facts.append(recorded.fact)
            places.facts.append(recorded.tenantSeq)
        case .head(let head, let tenant, let day):
            try take(head, tenant, day)
        case .record(let record):
            batch.records.append(record)
        case .tally(let tenant, let event, let fact):
            try flush()
            try writer.count(tenant, event: event, fact: fact)
        }
        let count = batch.events.count + batch.facts.count + batch.heads.count + batch.records.count
        if count >= Self.batchMax { try flush() }
    }

    private func take(
        _ head: RecoveredHead, _ tenant: TenantID, _ day: Int64?
    ) throws(EventLogError) {
        if met[head.activity.rawValue] == nil {
            // All of its events were cut.
            met[head.activity.rawValue] = true
            try flush()
            try writer.adopt(
                head.activity, tenant, version: head.version, seq: head.seq,
                tenantSeq: head.tenantSeq)
        }
        if head.value.isEmpty, let day {
            try flush()
            return try writer.bury(head.activity, on: day)
        }
        batch.heads.append(ActivityHead(activity: head.activity, value: head.value))
        guard let day, let name = StoredHead(head.value, version: head.version)?.key.id else {
            return
        }
        let endedAt = Instant(nanoseconds: 0) + .hours(24 * day)
        batch.retired.append(
            RetiredActivity(activity: head.activity, name: name, endedAt: endedAt))
    }

    /// Makes durable what was taken, and lets go of the directory.
    package func finish() throws(EventLogError) {
        try flush()
        directory.letGo()
    }

    private func flush() throws(EventLogError) {
        guard !batch.isEmpty else { return }
        let (waiting, places) = (batch, self.places)
        batch = AppendBatch()
        self.places = ImportedPlaces()
        for answer in writer.store([waiting], as: places) { _ = try answer.get() }
        writer.checkpointIfDue()
    }

    private func gap(_ what: String, _ seq: Int64, _ expected: Int64) -> EventLogError {
        .unusable(
            cause: "\(what) \(seq) comes where \(expected) should",
            hint: "import a whole export, in its order")
    }
}
