import Glibc
import Synchronization
import TestSupport
import Testing
import TomboloCore
import TomboloEventLog
import TomboloLoop

@testable import TomboloLog

/// A log of which everything is too old: a month later one more event comes.
private final class OldLog {
    let place: LogPlace
    private(set) var writer: LogWriter
    private var activities = SampleActivities()
    private var month = Sample.noon + .hours(760)

    /// So many events, each of an activity of its own that has retired, with a key and a fact.
    init(_ kind: Engine, events: Int64, pad: Int) throws {
        place = LogPlace(kind)
        writer = try place.writer(.standard)
        let pad = String(repeating: "erased-", count: pad / 7)
        for first in stride(from: 1, through: events, by: 1_000) {
            let numbers = first...min(first + 999, events)
            let events = numbers.map {
                activities.next($0, "{\"pad\":\"\(pad)\"}", at: Sample.noon, key: "key-\($0)")
            }
            var batch = activities.batch(events)
            batch.facts = numbers.map { Sample.fact("push.accepted", activity: $0) }
            try store(batch)
            var retiring = AppendBatch()
            retiring.retired = numbers.map {
                RetiredActivity(
                    activity: ActivityNumber($0), name: SampleActivities.name($0),
                    endedAt: Sample.noon)
            }
            try store(retiring)
        }
    }

    private func store(_ batch: AppendBatch) throws { _ = try writer.store([batch])[0].get() }

    /// An event of the present with a key, or so many.
    func change(events count: Int = 1) throws {
        month = month + .seconds(1)
        let events = (0..<count).map {
            activities.next(1_000_000, "{}", at: month, key: "\(month) \($0)")
        }
        try store(activities.batch(events))
    }

    /// The process ends here, as at `kill -9`; the next one opens the log.
    func restart() throws {
        writer.leaveWALOnClose()
        writer = try place.writer(.standard)
    }

    /// Empties the write-ahead log: an erasure of nothing does.
    func emptyWAL() throws {
        let nothing = LogErasure(.activity(ActivityNumber(0)), of: Sample.lab)
        #expect(try writer.erase(nothing).isOutOfFile != place.keepsDeleted)
    }

    /// Rows of tables that are cut, and bytes of the rows of events.
    func size() throws -> (rows: Int64, bytes: Int) {
        let cut: [LogTable.Kind] = [.event, .fact, .snapshot, .keys, .retired, .retiredName]
        var size = (rows: Int64(0), bytes: 0)
        try place.reading().forEachRow { table, _, row in
            if cut.contains(table.kind) { size.rows += 1 }
            if table.kind == .event { size.bytes += row.count }
        }
        return size
    }
}

private final class Count: Sendable {
    let value = Atomic(0)
}

@Suite struct PieceTests {
    /// Of events, facts and names; and one of keys.
    private static let rowsMax: Int64 = 2_000 + 2_000 + 1
    private static let bytesMax = 2 << 20

    @Test(arguments: Engine.allCases)
    func `a cut of a day goes in pieces, and the log is whole after each`(kind: Engine) throws {
        let log = try OldLog(kind, events: 5_000, pad: 700)
        try log.change()
        var before = try log.size()
        var pieces = 0
        repeat {
            let piece = log.writer.cutIfDue()
            let after = try log.size()
            #expect(piece.rows == before.rows - after.rows)
            #expect(piece.rows <= Self.rowsMax)
            #expect(before.bytes - after.bytes <= Self.bytesMax)
            guard piece.goesOn else { break }
            pieces += 1
            before = after
            if pieces % 5 == 0 { #expect(try log.place.verify().wrong == []) }
        } while pieces < 1_000
        // Left is the event of the present.
        #expect(before.rows == 1)
        #expect(pieces > 20)
        #expect(try log.place.verify().wrong == [])
    }

    @Test(arguments: Engine.allCases)
    func `a piece is bounded by bytes too`(kind: Engine) throws {
        let log = try OldLog(kind, events: 100, pad: 60_000)
        try log.change()
        log.writer.cutIfDue()
        var before = try log.size()
        while log.writer.cutIfDue().goesOn {
            let after = try log.size()
            // Half a megabyte, and the row that went beyond.
            #expect(before.bytes - after.bytes < 600_000)
            before = after
        }
        #expect(before.rows == 1)
    }

    @Test(arguments: Engine.allCases)
    func `a cut that is killed after each piece goes on, and overwrites what it takes`(kind: Engine)
        throws
    {
        let log = try OldLog(kind, events: 2_000, pad: 70)
        #expect(try log.place.has("erased-"))
        var lives: Int64 = 0
        while lives < 100 {
            try log.restart()
            try log.change()
            lives += 1
            guard log.writer.cutIfDue().goesOn else { break }
            if lives % 4 == 0 { #expect(try log.place.verify().wrong == []) }
        }
        #expect(lives > 10)
        // Of each life an event.
        #expect(try log.size().rows == lives)
        #expect(try log.place.verify().wrong == [])
        try log.emptyWAL()
        #expect(try !log.place.has("erased-"))
        #expect(try !log.place.has("activity-77"), "nor a name")
    }

    @Test(arguments: Engine.allCases)
    func `a cut keeps pace with commits of a thousand events`(kind: Engine) throws {
        let log = try OldLog(kind, events: 8_000, pad: 7)
        for _ in 0..<8 {
            try log.change(events: 1_000)
            log.writer.cutIfDue()
        }
        #expect(try log.place.verify().cut == 8_000)
    }

    @Test(arguments: Engine.allCases)
    func `an erasure of large rows goes in pieces of two megabytes`(kind: Engine) throws {
        let place = LogPlace(kind)
        let writer = try place.writer()
        let pad = String(repeating: "a", count: 60_000)
        let events = (Int64(0)..<200).map { Sample.event(1, after: $0, body: "{\"a\":\"\(pad)\"}") }
        _ = try writer.store([Sample.batch(events)])[0].get()
        let erasure = LogErasure(.activity(ActivityNumber(1)), of: Sample.lab)
        var erasing = try #require(try writer.begin(erasure))
        var (pieces, most, last) = (0, 0, 0)
        while !erasing.isDone {
            try writer.piece(of: &erasing)
            pieces += 1
            most = max(most, erasing.receipt.events - last)
            last = erasing.receipt.events
        }
        #expect(last == 200)
        #expect(most <= (2 << 20) / 60_000 + 1)
        #expect(pieces > 5)
    }

    @Test(arguments: Engine.allCases)
    func `a full disk leaves a cut where it was, until there is room`(kind: Engine) throws {
        let place = LogPlace(kind)
        let writer = try place.writer(.standard)
        var activities = SampleActivities()
        for instant in [Sample.noon, Sample.noon + .hours(760)] {
            let events = (0..<2_000).map { _ in activities.next(1, "{}", at: instant) }
            _ = try writer.store([activities.batch(events)])[0].get()
        }
        #expect(writer.cutIfDue().rows > 0)
        place.setFull(true)
        #expect(writer.cutIfDue() == CutPiece())
        #expect(try place.verify().wrong == [])
        place.setFull(false)
        while writer.cutIfDue().goesOn {}
        #expect(try place.verify().cut == 2_000)
    }

    @Test(arguments: Engine.allCases)
    func `an idle log goes on cutting by itself`(kind: Engine) async throws {
        let place = LogPlace(kind)
        let log = try place.log(.standard)
        for first in stride(from: Int64(0), to: 5_000, by: 1_000) {
            let events = (first..<first + 1_000).map { Sample.event(1, after: $0) }
            _ = try await log.append(Sample.batch(events))
        }
        let new = Sample.event(2, after: 0, at: Sample.noon + .hours(760))
        _ = try await log.append(Sample.batch(new))
        // Longer than a busy machine takes for five pieces.
        let deadline = time(nil) + 60
        var left = Int.max
        while left > 1, time(nil) < deadline {
            left = try await log.history(after: 0, limit: .max).count
        }
        #expect(left == 1)
        await log.close()
    }

    @Test(arguments: Engine.allCases)
    func `questions are answered while a day is cut`(kind: Engine) throws {
        let log = try OldLog(kind, events: 3_000, pad: 7)
        try log.change()
        let reader = try log.place.reader()
        let names = [Int64(1), 1_500, 3_000].map {
            ActivityKey(tenant: Sample.lab, id: SampleActivities.name($0))
        }
        var known = 3
        repeat {
            let found = try reader.retired(named: names).map(\.activity.rawValue)
            #expect(found.count <= known)
            #expect(Set(found).isSubset(of: [1, 1_500, 3_000]))
            known = found.count
        } while log.writer.cutIfDue().goesOn
        #expect(try reader.retired(named: names).isEmpty)
    }

    @Test(arguments: Engine.allCases)
    func `an activity that retires while it is erased is erased`(kind: Engine) throws {
        let place = LogPlace(kind)
        let writer = try place.writer()
        var activities = SampleActivities()
        let events = [
            activities.next(1, #"{"x":"secret"}"#, at: Sample.noon, devices: ["phone"]),
            activities.next(2, #"{"x":"other"}"#, at: Sample.noon, devices: ["other"]),
        ]
        _ = try writer.store([activities.batch(events)])[0].get()
        let device = try #require(Identifier("phone"))
        var erasing = try #require(
            try writer.begin(LogErasure(.device(device), of: Sample.lab)))
        // It is known by its start.
        try writer.piece(of: &erasing)
        var retiring = AppendBatch()
        retiring.retired = [
            RetiredActivity(
                activity: ActivityNumber(1), name: SampleActivities.name(1), endedAt: Sample.noon)
        ]
        _ = try writer.store([retiring])[0].get()
        while !erasing.isDone { try writer.piece(of: &erasing) }
        #expect(try writer.finish(erasing).activities == 1)
        #expect(try !place.has("secret"))
    }

    /// So many that a lookup on a busy machine still comes between two of them.
    private static let scans = 300

    @Test func `a lookup of one row does not wait for pages`() throws {
        let place = LogPlace(.sqlite)
        // A loop of its own: other tests may keep every thread of the pool for a minute.
        try EpollLoop.run { loop in
            let log = try place.log()
            for first in stride(from: Int64(0), to: 20_000, by: 1_000) {
                let events = (first..<first + 1_000).map { Sample.event(1, after: $0) }
                _ = try await log.append(Sample.batch(events))
            }
            var scan = EventQuery(tenant: Sample.lab)
            scan.from = Sample.noon + .hours(1)
            let done = Count()
            try await withThrowingTaskGroup(of: Void.self) { [scan] group in
                for _ in 0..<Self.scans {
                    group.addTask(executorPreference: loop) {
                        _ = try await log.events(scan)
                        done.value.add(1, ordering: .relaxed)
                    }
                }
                // One of them is answered: all others wait.
                try await group.next()
                let key = ActivityKey(tenant: Sample.lab, id: SampleActivities.name(1))
                #expect(try await log.retired(named: [key]).isEmpty)
                #expect(done.value.load(ordering: .relaxed) < Self.scans)
                try await group.waitForAll()
            }
            await log.close()
        }
    }
}
