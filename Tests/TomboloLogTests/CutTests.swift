import TestSupport
import Testing
import TomboloCore
import TomboloEventLog

@testable import TomboloLog

/// A log that keeps two days of events. Its commits are few and small, so that no checkpoint gives
/// a head its row before history is cut.
private final class SlowLog {
    let place: LogPlace
    private var log: EngineEventLog?
    private var activities = SampleActivities()
    /// What the log acknowledged, newest last.
    private(set) var acknowledged: [Int64: (version: Int64, state: String)] = [:]

    init(_ kind: Engine) { place = LogPlace(kind) }

    /// The log of the process that lives now, or of a new one.
    private func open() throws -> EngineEventLog {
        if let log { return log }
        let log = try place.log(LogRetention(history: .hours(48), facts: .hours(24)))
        self.log = log
        return log
    }

    /// One commit with one event.
    func change(_ activity: Int64, at hour: Int64) async throws {
        let state = "{\"hour\":\(hour)}"
        let event = activities.next(activity, state, at: Sample.noon + .hours(hour))
        _ = try await open().append(activities.batch([event]))
        acknowledged[activity] = (event.expectedVersion + 1, state)
    }

    /// The process is gone: nothing is closed.
    func kill() { log = nil }

    /// What the next process finds.
    func recover() async throws -> RecoveredLog {
        try await open().recover(idempotencySince: .distantPast)
    }

    /// Each acknowledged event is what comes back.
    func check(_ recovered: RecoveredLog) {
        #expect(recovered.damage.isEmpty)
        for (activity, newest) in acknowledged {
            let head = recovered.heads.first { $0.activity.rawValue == activity }
            #expect(head?.version == newest.version, "activity \(activity)")
            let text = head.map { String(decoding: $0.value, as: UTF8.self) } ?? ""
            #expect(text.contains("\"state\":\(newest.state),"), "activity \(activity)")
        }
    }
}

@Suite struct CutTests {
    @Test(arguments: Engine.allCases)
    func `history that is cut leaves each head at its newest event after a kill`(kind: Engine)
        async throws
    {
        let log = SlowLog(kind)
        for hour in Int64(0)..<200 { try await log.change(hour % 3, at: hour) }
        log.kill()
        try log.check(await log.recover())
        log.kill()
        #expect(try log.place.verify().wrong.isEmpty)
        #expect(try log.place.verify().cut > 100)
    }

    @Test(arguments: Engine.allCases)
    func `an activity whose events are all cut keeps its newest state after a kill`(
        kind: Engine
    ) async throws {
        let log = SlowLog(kind)
        try await log.change(1, at: 0)
        try await log.change(1, at: 1)
        try await log.change(1, at: 2)
        for hour in Int64(3)..<200 { try await log.change(2, at: hour) }
        log.kill()
        try log.check(await log.recover())
    }

    @Test(arguments: Engine.allCases)
    func `heads stay right after many short lives, each killed`(kind: Engine) async throws {
        let log = SlowLog(kind)
        for life in Int64(0)..<12 {
            for hour in life * 20..<(life + 1) * 20 {
                try await log.change(hour * 7 % 5, at: hour)
            }
            log.kill()
            try log.check(await log.recover())
        }
        log.kill()
        #expect(try log.place.verify().wrong.isEmpty)
    }

    @Test(arguments: Engine.allCases)
    func `verify and the next start see heads that a cut has passed`(kind: Engine) async throws {
        // What an earlier program left: history cut up to event 10, rows of heads right up to 3.
        let slow = SlowLog(kind)
        for hour in Int64(0)..<20 { try await slow.change(hour % 3, at: hour) }
        slow.kill()
        let cut = SlowLog(kind)
        for hour in Int64(0)..<59 { try await cut.change(4, at: hour) }
        cut.kill()
        try slow.place.edit { engine in
            for key in [LogCut.Key.log, .fact] {
                let row = try cut.place.reading().bytes(.cut, key.rawValue)
                try engine.put(.cut, key.rawValue, try #require(row))
            }
            try engine.delete(.event, 1...10, isPersonal: true)
        }
        let line = "events 4 to 10 were cut before their activities' newest states were stored: "
        let verdict = try slow.place.verify()
        #expect(verdict.cut == 10)
        #expect(verdict.wrong.contains { $0.hasPrefix(line) }, "\(verdict.wrong)")
        #expect(verdict.wrong.contains("event 11: version 4 after 8 follows version 1 at 2"))
        let recovered = try await slow.recover()
        #expect(recovered.damage.contains { $0.hasPrefix(line) }, "\(recovered.damage)")
        let lost = recovered.damaged.first { $0.number.rawValue == 1 }
        #expect(lost?.reason == "its newest events do not follow its head")
    }
}
