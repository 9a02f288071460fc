import TomboloCore
import TomboloEventLog
import TomboloProgram

/// Makes events of 300 bytes like the core's, with their heads, at almost no cost. The core makes
/// one event of each kind; then only numbers and times in it are changed.
///
/// The log is valid: `log verify` can rebuild it.
struct BenchEvents: Sendable {
    /// Length of each body, in bytes.
    static let bodyBytes = 300

    private let start: BenchTemplate
    private let startHead: BenchTemplate
    private let update: BenchTemplate
    private let updateHead: BenchTemplate
    private let tenant: TenantID
    private let firstActivity: Int64
    private let activities: Int64
    private let isNew: Bool
    /// Every `newEvery`-th event starts a new activity; 0: no event does.
    private let newEvery: Int64
    private let hasKeys: Bool
    private var seq: Int64
    /// Number of events made so far.
    private var count: Int64 = 0
    /// When each activity was started.
    private var startedAt: [Int64]
    private var versions: [Int64]

    /// - Parameters:
    ///   - firstActivity: the first free activity number.
    ///   - firstSeq: sequence of the first event.
    ///   - activities: number of activities that take turns.
    ///   - isNew: true if each event starts a new activity instead.
    ///   - newEvery: every `newEvery`-th event starts a new activity; 0: no event does.
    ///   - hasKeys: true if each event has an idempotency key.
    init(
        firstActivity: Int64, firstSeq: Int64, activities: Int, isNew: Bool, newEvery: Int = 0,
        hasKeys: Bool
    ) {
        guard let main = Identifier("main"), let id = Identifier(BenchTemplate.activityMark) else {
            preconditionFailure("both are identifiers")
        }
        tenant = TenantID(main)
        self.firstActivity = firstActivity
        self.activities = Int64(activities)
        self.isNew = isNew
        self.newEvery = Int64(newEvery)
        self.hasKeys = hasKeys
        seq = firstSeq
        startedAt = Array(repeating: 0, count: isNew ? 0 : activities)
        versions = startedAt
        let key = ActivityKey(tenant: tenant, id: id)
        var core = Core(configuration: CoreConfiguration(apps: []), seed: 1)
        let start = Self.body(#"{"type":"Bench","state":"#)
        let update = Self.body(#"{"state":"#)
        self.start = BenchTemplate(start)
        self.update = BenchTemplate(update)
        startHead = BenchTemplate(Self.head(&core, key, .start, start))
        updateHead = BenchTemplate(Self.head(&core, key, .update, update))
    }

    private static func body(_ beginning: String) -> [UInt8] {
        let head = beginning + "{\"n\":\"\(BenchTemplate.numberMark)\",\"pad\":\""
        let pad = bodyBytes - head.utf8.count - 3
        return Array((head + String(repeating: "x", count: pad) + "\"}}").utf8)
    }

    /// Returns the head that the core writes after a command.
    private static func head(
        _ core: inout Core, _ key: ActivityKey, _ kind: EventKind, _ body: [UInt8]
    ) -> [UInt8] {
        var effects = Effects()
        guard let content = try? Command.Content(json: body, kind: kind) else {  // made above
            preconditionFailure("a bench's body is a command")
        }
        let now = Instant(nanoseconds: BenchTemplate.timeMark)
        core.step(
            .command(Command(activity: key, content: content, body: body), Ticket(1)), now: now,
            effects: &effects)
        guard let batch = core.takeBatch(now: now), let head = batch.heads.first else {
            preconditionFailure("the core takes a bench's command: \(effects.answers)")
        }
        let commit = AppendReceipt(firstSeq: 1, firstFactSeq: 1, of: batch)
        core.step(.committed(commit), now: now, effects: &effects)
        return head.value
    }

    /// The next `size` events, and the generator for the events after them.
    func next(_ size: Int, at now: Instant) -> (rest: BenchEvents, batch: AppendBatch) {
        var rest = self
        let batch = rest.takeBatch(size, at: now)
        return (rest, batch)
    }

    /// The next `size` events, all at one instant, with a head for each of their activities.
    private mutating func takeBatch(_ size: Int, at now: Instant) -> AppendBatch {
        var batch = AppendBatch()
        batch.events.reserveCapacity(size)
        let isMixed = newEvery > 0
        let firstWithHead = isNew || isMixed ? 0 : size - min(size, Int(activities))
        batch.heads.reserveCapacity(size - firstWithHead)
        var touched: Set<Int64> = []
        for index in 0..<size {
            let isOwn = isNew || newEvery > 0 && count % newEvery == newEvery - 1
            let slot = isNew ? count : isOwn ? activities + count / newEvery : count % activities
            let version = isOwn ? 0 : versions[Int(slot)]
            if !isOwn {
                if version == 0 { startedAt[Int(slot)] = now.nanoseconds }
                versions[Int(slot)] += 1
            }
            let number = ActivityNumber(firstActivity + slot)
            let values = BenchTemplate.Values(
                activity: number.rawValue, number: count, now: now.nanoseconds,
                started: isOwn ? now.nanoseconds : startedAt[Int(slot)])
            batch.events.append(
                NewEvent(
                    tenant: tenant, activity: number, expectedVersion: version,
                    kind: version == 0 ? .start : .update, recordedAt: now,
                    body: (version == 0 ? start : update).filled(values),
                    idempotency: hasKeys ? key() : nil))
            // Keep only the newest head of each activity.
            if index >= firstWithHead {
                let head = version == 0 ? startHead : updateHead
                let made = ActivityHead(
                    activity: number, value: head.filled(values), follows: version > 0)
                if isMixed, !touched.insert(number.rawValue).inserted {
                    batch.heads.removeAll { $0.activity == number }
                }
                batch.heads.append(made)
            }
            count += 1
            seq += 1
        }
        return batch
    }

    private func key() -> IdempotencyKey {
        IdempotencyKey(key: "bench-\(seq)", bodyDigest: UInt64(truncatingIfNeeded: seq))
    }
}
