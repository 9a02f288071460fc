import TestSupport
import Testing
import TomboloCore
import TomboloEventLog
import TomboloLog

/// Rows that say which key asked, beside rows that do not.
@Suite struct AskingKeyTests {
    @Test(arguments: Engine.allCases)
    func `a row keeps the key that asked, and a tombstone does`(kind: Engine) async throws {
        let place = LogPlace(kind)
        var log = try place.log()
        var activities = SampleActivities()
        let asking = [
            AskingKey.unknown, AskingKey(id: "0000000000ff"), AskingKey(id: "ffffffffffff"),
        ]
        for (index, key) in asking.enumerated() {
            var event = activities.next(
                1, "{\"n\":\(index)}", kind: index == 2 ? .end : .update, at: Sample.noon,
                key: index == 1 ? "key" : nil)
            event.key = key
            _ = try await log.append(activities.batch([event]))
        }
        await log.close()
        log = try place.log()
        let query = EventQuery(tenant: Sample.lab)
        let events = try await log.events(query).events
        #expect(events.map(\.event.key) == asking)
        #expect(
            events.map { String(decoding: $0.event.body, as: UTF8.self) }.last
                == #"{"state":{"n":2}}"#)
        var batch = AppendBatch()
        batch.retired = [
            RetiredActivity(
                activity: ActivityNumber(1), name: SampleActivities.name(1), endedAt: Sample.noon)
        ]
        _ = try await log.append(batch)
        _ = try await log.erase(LogErasure(.activity(ActivityNumber(1)), of: Sample.lab))
        let left = try await log.events(query).events
        #expect(left.map(\.event.key) == asking)
        #expect(left.allSatisfy { $0.event.body.isEmpty })
        await log.close()
        #expect(try place.verify().wrong == [])
    }

    @Test func `an id is twelve hexadecimal digits, and all else is unknown`() {
        #expect(AskingKey(id: "0a0000000001").id == "0a0000000001")
        for text in ["", "abc", "0a00000000012", "-00000000001", "zzzzzzzzzzzz"] {
            #expect(AskingKey(id: text).id == "unknown", "\(text)")
        }
    }
}
