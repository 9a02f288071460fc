import Testing
import TomboloCore
import TomboloEventLog

extension EventLogContract {
    /// Activity 1 is for phone-1 alone, 2 for both phones; 3, of another tenant, for its phone-1.
    private static func filled(_ place: any EventLogPlace) async throws -> any EventLog {
        let log = try await place.recovered()
        var activities = SampleActivities()
        var others = SampleActivities(tenant: Sample.field)
        let events = [
            activities.next(1, #"{"n":1}"#, at: Sample.noon, devices: ["phone-1"], key: "one"),
            activities.next(2, #"{"n":1}"#, at: Sample.noon, devices: ["phone-1", "phone-2"]),
            activities.next(1, #"{"n":2}"#, kind: .end, at: Sample.noon),
            activities.next(2, #"{"n":2}"#, at: Sample.noon),
        ]
        var batch = activities.batch(events)
        batch.facts = [fact(1, of: "phone-1"), fact(2, of: "phone-1"), fact(2, of: "phone-2")]
        _ = try await log.append(batch)
        let other = others.next(3, #"{"n":1}"#, at: Sample.noon, devices: ["phone-1"])
        _ = try await log.append(others.batch([other]))
        return log
    }

    private static func fact(_ activity: Int64, of device: String) -> NewFact {
        NewFact(
            tenant: Sample.lab, activity: ActivityNumber(activity), kind: "push.accepted",
            recordedAt: Sample.noon, body: Array("{\"device\":\"\(device)\"}".utf8))
    }

    private static func bodies(_ log: any EventLog) async throws -> [Bool] {
        try await log.history(after: 0, limit: 100).map { !$0.event.body.isEmpty }
    }

    private static func facts(_ log: any EventLog) async throws -> [Bool] {
        try await log.facts(FactQuery(tenant: Sample.lab)).facts.map { $0.fact.body.count > 2 }
    }

    static let erasing = [
        EventLogContract("an erased activity leaves tombstones, and nobody finds it") { place in
            var log = try await filled(place)
            let erased = try await log.erase(
                LogErasure(.activity(ActivityNumber(1)), of: Sample.lab))
            #expect((erased.events, erased.facts, erased.activities) == (2, 1, 1))
            for _ in 1...2 {
                #expect(try await bodies(log) == [false, true, false, true, true])
                #expect(try await facts(log) == [false, true, true])
                let first = try await log.event(seq: 1, tenant: Sample.lab)
                #expect(first?.event.kind == .start)
                #expect(first?.event.idempotency == nil)
                let name = ActivityKey(tenant: Sample.lab, id: SampleActivities.name(1))
                #expect(try await log.retired(named: [name]).isEmpty)
                log = try await place.open()
                let recovered = try await log.recover()
                #expect(recovered.heads.map(\.activity.rawValue) == [2, 3])
                #expect(recovered.lastActivity == 3, "its number is not given again")
            }
        },

        EventLogContract("an erased device leaves what is for others too") { place in
            var log = try await filled(place)
            let phone = LogErasure(.device(try #require(Identifier("phone-1"))), of: Sample.lab)
            let erased = try await log.erase(phone)
            #expect((erased.events, erased.facts, erased.activities) == (3, 2, 1))
            for _ in 1...2 {
                #expect(try await bodies(log) == [false, false, false, true, true])
                #expect(try await facts(log) == [false, false, true])
                log = try await place.open()
                let heads = try await log.recover().heads
                #expect(heads.map(\.activity.rawValue) == [2, 3])
                let device = try #require(Identifier("phone-1"))
                #expect(DeviceTrace.inHead(heads[0].value, of: device) == .none)
                #expect(DeviceTrace.inHead(heads[1].value, of: device) == .alone, "another's")
            }
            let again = try await log.erase(phone)
            #expect((again.events, again.facts, again.activities) == (0, 0, 0))
        },

        EventLogContract("a life for the device alone goes, the activity's next one stays") {
            place in
            let log = try await place.recovered()
            var activities = SampleActivities()
            let events = [
                activities.next(1, "{}", at: Sample.noon, devices: ["phone-1"]),
                activities.next(1, "{}", kind: .end, at: Sample.noon),
                activities.next(1, "{}", kind: .start, at: Sample.noon, devices: ["phone-2"]),
                activities.next(1, "{}", at: Sample.noon),
            ]
            _ = try await log.append(activities.batch(events))
            let device = try #require(Identifier("phone-1"))
            _ = try await log.erase(LogErasure(.device(device), of: Sample.lab))
            #expect(try await bodies(log) == [false, false, true, true])
            #expect(try await log.recover().heads.map(\.version) == [4])
        },
    ]
}
