import TestSupport
import Testing
import TomboloCore
import TomboloEventLog
import TomboloLog

/// A log of a few hundred events: activities 1 to 8, of which 1 is full of "secret-1", and so on;
/// long bodies among them, that need pages of their own.
private func filled(_ place: LogPlace) async throws -> EngineEventLog {
    let log = try place.log()
    var activities = SampleActivities()
    for round in Int64(0)..<60 {
        var events: [NewEvent] = []
        for activity in Int64(1)...8 {
            let pad = String(repeating: "secret-\(activity) ", count: round % 20 == 7 ? 2_000 : 20)
            events.append(
                activities.next(
                    activity, "{\"r\":\(round),\"pad\":\"\(pad)\"}",
                    kind: round == 59 ? .end : .update, at: Sample.noon + .seconds(round),
                    devices: activity < 3
                        ? ["phone-\(activity)"] : ["phone-1", "phone-\(activity)"],
                    key: "key-secret-\(activity)-\(round)"))
        }
        var batch = activities.batch(events)
        batch.facts = (1...8).map { activity in
            NewFact(
                tenant: Sample.lab, activity: ActivityNumber(activity), kind: "push.accepted",
                recordedAt: Sample.noon,
                body: Array(
                    #"{"device":"phone-\#(activity)","reason":"secret-\#(activity)"}"#.utf8))
        }
        _ = try await log.append(batch)
    }
    return log
}

private func retire(_ activity: Int64, _ log: EngineEventLog) async throws {
    var batch = AppendBatch()
    batch.retired = [
        RetiredActivity(
            activity: ActivityNumber(activity), name: SampleActivities.name(activity),
            endedAt: Sample.noon)
    ]
    _ = try await log.append(batch)
}

@Suite struct ErasureTests {
    @Test(arguments: Engine.allCases, [false, true])
    func `nothing of an erased activity is left in the files, and the log is whole`(
        kind: Engine, isRetired: Bool
    ) async throws {
        let place = LogPlace(kind)
        let log = try await filled(place)
        if isRetired { try await retire(3, log) }
        var trial = LogErasure(.activity(ActivityNumber(3)), of: Sample.lab)
        trial.isTrial = true
        let counted = try await log.erase(trial)
        #expect(counted.events == 60 && counted.facts == 60 && counted.activities == 1)
        #expect(try place.has("secret-3"))
        let erased = try await log.erase(
            LogErasure(.activity(ActivityNumber(3)), of: Sample.lab))
        #expect(erased.events == 60)
        #expect(erased.facts == 60)
        #expect(erased.activities == 1)
        #expect(erased.isOutOfFile != place.keepsDeleted)
        #expect(try !place.has("secret-3"))
        #expect(try !place.has("activity-3"), "nor its name")
        #expect(try place.has("secret-4"))
        #expect(try place.verify().wrong == [])
        let events = try await log.history(after: 0, limit: .max)
        #expect(events.count == 480)
        let own = events.filter { $0.event.activity == ActivityNumber(3) }
        #expect(own.allSatisfy { $0.event.body.isEmpty && $0.event.idempotency == nil })
        #expect(own.map(\.version) == Array(1...60), "when it was and of what kind is kept")
        await log.close()
        let again = try place.log()
        let recovered = try await again.recover()
        #expect(recovered.damage.isEmpty)
        #expect(!recovered.heads.contains { $0.activity == ActivityNumber(3) })
        let name = ActivityKey(tenant: Sample.lab, id: SampleActivities.name(3))
        #expect(try await again.retired(named: [name]).isEmpty)
        await again.close()
        #expect(try place.verify().wrong == [])
    }

    @Test(arguments: Engine.allCases)
    func `to erase again changes nothing, and another tenant's is nobody's`(kind: Engine)
        async throws
    {
        let place = LogPlace(kind)
        let log = try await filled(place)
        let subject = LogErasure.Subject.activity(ActivityNumber(3))
        let foreign = try await log.erase(LogErasure(subject, of: Sample.field))
        #expect(foreign.events == 0)
        #expect(try place.has("secret-3"))
        _ = try await log.erase(LogErasure(subject, of: Sample.lab))
        let again = try await log.erase(LogErasure(subject, of: Sample.lab))
        #expect(again.events == 0)
        #expect(again.activities == 0)
        await log.close()
    }

    @Test(arguments: Engine.allCases)
    func `a device takes what was for it alone, and its name out of the rest`(kind: Engine)
        async throws
    {
        let place = LogPlace(kind)
        let log = try await filled(place)
        try await retire(5, log)
        let device = try #require(Identifier("phone-1"))
        var trial = LogErasure(.device(device), of: Sample.lab)
        trial.isTrial = true
        let counted = try await log.erase(trial)
        #expect(counted.events == 60 + 6 && counted.facts == 60 && counted.activities == 1)
        let erased = try await log.erase(LogErasure(.device(device), of: Sample.lab))
        #expect(erased.activities == 1, "activity 1 was for it alone")
        #expect(erased.events == 60 + 6, "its events, and the starts of 3 to 8")
        #expect(erased.facts == 60)
        #expect(try !place.has("secret-1 "))
        #expect(try !place.has("\"phone-1\""))
        #expect(try place.has("secret-2"))
        #expect(try place.has("phone-3"), "the others go on being named")
        #expect(try place.verify().wrong == [])
        await log.close()
    }

    @Test(arguments: Engine.allCases)
    func `appends go on while something is erased`(kind: Engine) async throws {
        let place = LogPlace(kind)
        let log = try await filled(place)
        async let erased = log.erase(LogErasure(.activity(ActivityNumber(2)), of: Sample.lab))
        for version in Int64(0)..<50 {
            _ = try await log.append(Sample.batch(Sample.event(99, after: version)))
        }
        #expect(try await erased.events == 60)
        #expect(try await log.recover().lastSeq == 530)
        await log.close()
    }

    @Test func `while somebody reads, it is said that the bytes are there still`() async throws {
        let place = LogPlace(.sqlite)
        await (try await filled(place)).close()
        let writer = try place.writer()
        var erased: LogErased?
        let third = LogErasure(.activity(ActivityNumber(3)), of: Sample.lab)
        try LogExport(place.reading()).run { _ in
            if erased == nil { erased = try writer.erase(third) }
        }
        #expect(erased?.isOutOfFile == false)
        #expect(try place.has("secret-3"))
        #expect(try writer.erase(third).isOutOfFile)
        #expect(try !place.has("secret-3"))
    }

    @Test(arguments: Engine.allCases)
    func `what was erased stays so when it is exported and imported`(kind: Engine) async throws {
        let place = LogPlace(kind)
        let log = try await filled(place)
        _ = try await log.erase(LogErasure(.activity(ActivityNumber(3)), of: Sample.lab))
        await log.close()
        let other = LogPlace(kind)
        try other.take(place.items())
        #expect(try other.verify().wrong == [])
        let again = try other.log()
        #expect(try await again.recover().heads.count == 7)
        #expect(try await again.history(after: 0, limit: .max).count == 480)
        await again.close()
    }
}
