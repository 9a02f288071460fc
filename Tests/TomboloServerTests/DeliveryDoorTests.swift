import TestSupport
import Testing
import TomboloCore
import TomboloEventLog
import TomboloJSON

@testable import TomboloServer

/// Lists of the delivery history. A channel and a device of one name have a history each.
@Suite struct DeliveryDoorTests {
    private static let onChannel = """
        {"type":"Score","app":"com.example.app","audience":{"channel":"final"},"state":{}}
        """
    private static let onDevice = """
        {"type":"Score","app":"com.example.app","audience":{"device":"final"},"state":{},
        "alert":{"title":"Go"}}
        """

    /// `cup` on the channel `final`, and `cat` on the device `final` without a way to it.
    private static func fill(_ doors: DoorsUnderTest) async throws {
        _ = try await doors.call("PUT", "/v1/channels/final", "{}")
        let device = #"{"app":"com.example.app","environment":"sandbox"}"#
        _ = try await doors.call("PUT", "/v1/devices/final", device)
        for (id, start) in [("cup", onChannel), ("cat", onDevice)] {
            let started = try await doors.call("PUT", "/v1/activities/\(id)", start)
            #expect(started.status == 201, "\(started.text)")
            _ = try await doors.call("POST", "/v1/activities/\(id)/end", "{}")
        }
    }

    @Test func `an answer names the channel that its push went to as a channel`() async throws {
        try await withDoors(channels: ChannelShelf()) { doors in
            _ = try await doors.call("PUT", "/v1/channels/final", "{}")
            let start = try await doors.call(
                "PUT", "/v1/activities/cup", Self.onChannel, fields: ["Prefer: wait=2"])
            let delivery = try json(start)["deliveries"]?.elements.first { _ in true }
            #expect(delivery?["channel"]?.string == "final", "\(start.text)")
            #expect(delivery?["device"] == nil)
        }
    }

    private static func deliveries(
        _ doors: DoorsUnderTest, _ query: String
    ) async throws -> [[String?]] {
        let page = try json(try await doors.call("GET", "/v1/deliveries\(query)"))
        return page["deliveries"]?.elements.map { row in
            ["activity", "device", "channel"].map { row[$0]?.string }
        } ?? []
    }

    @Test func `a list is of the one or of the other`() async throws {
        try await withDoors(channels: ChannelShelf()) { doors in
            try await Self.fill(doors)
            let channel = Set(try await Self.deliveries(doors, "?channel=final"))
            #expect(channel == [["cup", nil, "final"]])
            let device = Set(try await Self.deliveries(doors, "?device=final"))
            #expect(device == [["cat", "final", nil]])
            for path in ["/v1/deliveries", "/v1/activities/cup/explain"] {
                let both = try await doors.call("GET", "\(path)?device=a&channel=b")
                #expect(both.status == 400, "\(both.text)")
                #expect(both.text.contains("Give device or channel, not both."))
            }
            let unknown = try await doors.call("GET", "/v1/deliveries?channel=nobody")
            #expect(unknown.status == 404 && unknown.text.contains("unknown-channel"))
            let own = try json(
                try await doors.call("GET", "/v1/activities/cup/deliveries?channel=final"))
            let book = own["destinations"]?.elements.first { _ in true }
            #expect(book?["channel"]?.string == "final", "\(own.json)")
            #expect(book?["device"] == nil)
        }
    }

    @Test func `a page says how many lines of its time were left out`() async throws {
        let log = InMemoryEventLog()
        _ = try await log.recover()
        var batch = AppendBatch()
        let leftOut = #"{"push.merged":7,"token.registered":5}"#
        batch.facts = [
            NewFact(
                tenant: DoorsUnderTest.tenant, activity: nil, kind: "history.thinned",
                recordedAt: Instant(seconds: 1_790_000_000),
                body: Array(#"{"from":"2026-09-21T13:33:00Z","left_out":\#(leftOut)}"#.utf8))
        ]
        _ = try await log.append(batch)
        try await withDoors(log: log) { doors in
            let page = try json(try await doors.call("GET", "/v1/deliveries"))
            #expect(page["left_out"]?.integer == 7, "\(page.json)")
            let earlier = try json(
                try await doors.call("GET", "/v1/deliveries?until=2026-09-21T12:00:00Z"))
            #expect(earlier["left_out"] == nil, "\(earlier.json)")
        }
    }

    @Test func `why means the channel where the activity goes to it`() async throws {
        try await withDoors(channels: ChannelShelf()) { doors in
            try await Self.fill(doors)
            for query in ["device=final", "channel=final", "device=final&version=1"] {
                let why = try json(
                    try await doors.call("GET", "/v1/activities/cup/explain?\(query)"))
                #expect(why["channel"]?.string == "final", "\(why.json)")
                #expect(why["question"]?.string?.contains("the channel final") == true)
                let commands = why["try"]?.elements.compactMap(\.string)
                #expect(commands == ["tombolo delivery ls --activity cup --channel final"])
            }
            let why = try json(
                try await doors.call("GET", "/v1/activities/cat/explain?device=final"))
            #expect(why["device"]?.string == "final" && why["channel"] == nil, "\(why.json)")
        }
    }

    @Test func `erasing the device leaves the channel's history`() async throws {
        try await withDoors(channels: ChannelShelf()) { doors in
            try await Self.fill(doors)
            let erased = try await doors.call("POST", "/v1/devices/final/erase")
            #expect(erased.status == 200, "\(erased.text)")
            #expect(try await Self.deliveries(doors, "?channel=final").isEmpty == false)
            #expect(try await Self.deliveries(doors, "?user=nobody").isEmpty)
        }
    }
}
