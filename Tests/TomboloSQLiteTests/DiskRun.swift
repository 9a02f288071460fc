import TestSupport
import Testing
import TomboloCore
import TomboloEventLog
import TomboloLog
import TomboloSQLite

/// One seed's machine: a log on a simulated disk, and an in-memory log that holds exactly what the
/// log acknowledged. After each fault what is recovered must be that, or that and the group in
/// flight; and what is older than the retention may be gone from its beginning.
struct DiskRun {
    let disk: SimulatedDisk
    let path = "tombolo.db"
    var chance: SplitMix64
    /// What was acknowledged.
    var acknowledged = InMemoryEventLog()
    /// That and the group whose outcome is unknown.
    var inFlight: InMemoryEventLog?
    /// What was being erased when something failed: it is asked for again.
    var erasing: LogErasure?
    private var lab = SampleActivities(tenant: Sample.lab)
    private var field = SampleActivities(tenant: Sample.field)
    /// Of each of eight activities: how many were retired or erased before it.
    private var generations: [Int64: Int64] = [:]
    private(set) var now = Sample.noon
    private var keys = 0
    private(set) var groups = 0
    /// How often each thing was done, over all lives.
    private(set) var tally = Tally()

    /// What a run has come by: a test of many runs sees that nothing is left out.
    struct Tally {
        var erasures = 0
        /// Cut short, and done again.
        var erasuresCut = 0
        var retirements = 0
        /// Lives after which events were gone for their age.
        var retentions = 0
        /// Lives after which heads had to be made again from events.
        var headsBehind = 0

        static func + (one: Tally, other: Tally) -> Tally {
            var sum = one
            sum.erasures += other.erasures
            sum.erasuresCut += other.erasuresCut
            sum.retirements += other.retirements
            sum.retentions += other.retentions
            sum.headsBehind += other.headsBehind
            return sum
        }
    }

    /// The write-ahead log is short, so that checkpoints are many; or history is cut before a
    /// checkpoint gives heads their rows.
    private let checkpointPages: Int32
    private let headWritesOneIn: UInt64

    static let retention = LogRetention(history: .hours(48), facts: .hours(24))

    init(seed: UInt64) {
        disk = SimulatedDisk(seed: seed)
        disk.create(path)
        chance = SplitMix64(seed: ~seed)
        (checkpointPages, headWritesOneIn) = seed % 3 == 0 ? (4_000, 100) : (12, 15)
    }

    // MARK: One life of the program

    /// Opens the log and appends so many groups, or until something fails: the error, if so. Now
    /// and then it reads in between, erases, closes and opens again.
    mutating func live(groups count: Int) async -> EventLogError? {
        let groupsMax = groups + count
        do {
            while groups < groupsMax {
                let writer = try open()
                let reader = try LogReader(path: path, vfs: disk.vfsName, damage: DamageList())
                repeat {
                    if let error = await append(to: writer) { return error }
                    if let error = await erase(from: writer) { return error }
                    writer.cutIfDue()
                    if chance.next(below: headWritesOneIn) == 0 { writer.writeLaterHeads() }
                    writer.checkpointIfDue()
                    if chance.next(below: 12) == 0 {
                        _ = try reader.history(after: 0, limit: 10)
                    }
                } while groups < groupsMax && chance.next(below: 12) > 0
            }
            return nil
        } catch {
            return error
        }
    }

    /// A writer that has recovered.
    mutating func open() throws(EventLogError) -> LogWriter {
        let writer = try LogWriter(
            path: path, vfs: disk.vfsName, checkpointPages: checkpointPages,
            retention: Self.retention, chance: &chance)
        _ = try writer.recover(idempotencySince: now - IdempotencyKey.window)
        return writer
    }

    /// Stores a group of one to three batches. The error, if it was not acknowledged.
    private mutating func append(to writer: LogWriter) async -> EventLogError? {
        let before = (lab, field, generations)
        let batches = (0...chance.next(below: 3)).map { _ in batch() }
        let twin = acknowledged.crashed()
        let answers = writer.store(batches)
        for (batch, answer) in zip(batches, answers) {
            // Where the twin refuses, the receipts differ.
            let expected = try? await twin.append(batch)
            switch answer {
            case .success(let receipt):
                #expect(receipt.firstSeq == expected?.firstSeq)
                #expect(receipt.firstFactSeq == expected?.firstFactSeq)
                #expect(receipt.tenantSeqs == expected?.tenantSeqs)
            case .failure(let error):
                // A full disk has stored nothing; after any other error nobody knows.
                if case .outcomeUnknown = error { inFlight = await whole(batches) }
                (lab, field, generations) = before
                return error
            }
        }
        acknowledged = twin
        groups += 1
        return nil
    }

    /// What is acknowledged, and `batches`.
    private func whole(_ batches: [AppendBatch]) async -> InMemoryEventLog {
        let twin = acknowledged.crashed()
        // The twin holds the contract, and the batches are made to pass.
        for batch in batches { _ = try? await twin.append(batch) }
        return twin
    }

    private mutating func batch() -> AppendBatch {
        now = now + .minutes(Int64(chance.next(below: 240)))
        let events = (0..<chance.next(below: 5)).map { _ in event() }
        var batch = lab.batch(events.filter { $0.tenant == Sample.lab })
        batch.heads += field.batch(events.filter { $0.tenant == Sample.field }).heads
        batch.events = events
        batch.facts = (0..<chance.next(below: 3)).map { _ in
            NewFact(
                tenant: Sample.lab, activity: ActivityNumber(number(2)), kind: "push.accepted",
                recordedAt: now, body: Array("{\"device\":\"phone-2\",\"x\":\(text(80))}".utf8))
        }
        batch.records = (0..<chance.next(below: 3)).map { _ in
            Record(
                space: .key, number: Int64(chance.next(below: 20)),
                value: chance.next(below: 5) == 0 ? nil : Array(text(60).utf8))
        }
        if chance.next(below: 8) == 0 { retire(&batch) }
        return batch
    }

    private func number(_ activity: Int64) -> Int64 {
        generations[activity, default: 0] * 8 + activity
    }

    private mutating func event() -> NewEvent {
        let activity = Int64(chance.next(below: 8))
        keys += 1
        let key = chance.next(below: 2) == 0 ? "key-\(keys)" : nil
        let state = "{\"n\":\(keys),\"x\":\(text(chance.next(below: 20) == 0 ? 9_000 : 500))}"
        let kind: EventKind = chance.next(below: 15) == 0 ? .start : .update
        let devices = ["phone-\(activity)"] + (chance.next(below: 2) == 0 ? ["phone-2"] : [])
        let place = number(activity)
        return activity % 2 == 0
            ? lab.next(place, state, kind: kind, at: now, devices: devices, key: key)
            : field.next(place, state, kind: kind, at: now, devices: devices, key: key)
    }

    private mutating func retire(_ batch: inout AppendBatch) {
        let activity = Int64(chance.next(below: 8))
        let place = number(activity)
        guard (activity % 2 == 0 ? lab : field).versions[place] != nil else { return }
        batch.retired = [
            RetiredActivity(
                activity: ActivityNumber(place), name: SampleActivities.name(place), endedAt: now)
        ]
        generations[activity, default: 0] += 1
        tally.retirements += 1
    }

    private mutating func text(_ countMax: UInt64) -> String {
        let letters = (0..<chance.next(below: countMax)).map { _ in
            UInt8(ascii: "a") + UInt8(chance.next(below: 26))
        }
        return "\"\(String(decoding: letters, as: UTF8.self))\""
    }

    mutating func note(_ change: (inout Tally) -> Void) { change(&tally) }

    // MARK: Erasing

    /// Now and then erases an activity or a device. The error, if it was cut short.
    private mutating func erase(from writer: LogWriter) async -> EventLogError? {
        guard chance.next(below: 12) == 0 else { return nil }
        let activity = Int64(chance.next(below: 8))
        let tenant = activity % 2 == 0 ? Sample.lab : Sample.field
        var subject = LogErasure.Subject.activity(ActivityNumber(number(activity)))
        if chance.next(below: 3) == 0, let device = Identifier("phone-\(activity)") {
            subject = .device(device)
        }
        erasing = LogErasure(subject, of: tenant)
        tally.erasures += 1
        return await eraseAgain(from: writer)
    }

    /// Erases what is asked for, here and in the twin.
    mutating func eraseAgain(from writer: LogWriter) async -> EventLogError? {
        guard let erasing else { return nil }
        let first: Int64
        do throws(EventLogError) {
            let reader = try LogReader(path: path, vfs: disk.vfsName, damage: DamageList())
            first = try reader.history(after: 0, limit: 1).first?.seq ?? 1
            _ = try writer.erase(erasing)
        } catch { return error }
        self.erasing = nil
        // The twin holds the contract.
        _ = try? await acknowledged.erase(erasing, first: first)
        await follow()
        return nil
    }

    /// Goes on with what the twin has.
    mutating func follow() async {
        // As above.
        guard let heads = try? await acknowledged.recover().heads else { return }
        let known = heads.map { head in
            (
                head: ActivityHead(activity: head.activity, value: head.value),
                version: head.version
            )
        }
        lab.recover(known.filter { $0.head.activity.rawValue % 2 == 0 })
        field.recover(known.filter { $0.head.activity.rawValue % 2 == 1 })
        let living = Set(heads.map(\.activity.rawValue))
        for activity in Int64(0)..<8 {
            while await isGone(number(activity), living) {
                generations[activity, default: 0] += 1
            }
        }
    }

    /// Whether the activity was there, and lives no more.
    private func isGone(_ number: Int64, _ living: Set<Int64>) async -> Bool {
        guard !living.contains(number) else { return false }
        let tenant = number % 2 == 0 ? Sample.lab : Sample.field
        var query = EventQuery(tenant: tenant)
        query.activity = ActivityNumber(number)
        // The twin answers.
        return (try? await acknowledged.events(query).events.isEmpty) == false
    }
}
