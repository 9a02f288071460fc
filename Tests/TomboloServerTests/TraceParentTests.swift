import Testing
import TomboloCore
import TomboloJSON

@testable import TomboloServer

/// W3C Trace Context, section 3.2.
@Suite struct TraceParentTests {
    static let id = "4bf92f3577b34da6a3ce929d0e0e4736"
    static let parent = "00f067aa0ba902b7"

    @Test(arguments: [
        "00-\(id)-\(parent)-01", "00-\(id)-\(parent)-00", "cc-\(id)-\(parent)-01-more",
    ])
    func `a trace id is taken from a field that keeps the rules`(_ text: String) {
        #expect(TraceParent(text)?.traceID == Self.id)
    }

    @Test(arguments: [
        "", "00", "00-\(id)-\(parent)", "ff-\(id)-\(parent)-01", "00-\(id)-\(parent)-01-more",
        "00-\(id.uppercased())-\(parent)-01", "00-\(id)-\(parent)-1", "0-\(id)-\(parent)-01",
        "00-00000000000000000000000000000000-\(parent)-01", "00-\(id)-0000000000000000-01",
        "00-\(id)x-\(parent)-01", "00--\(id)-\(parent)-01", " 00-\(id)-\(parent)-01",
    ])
    func `a field that breaks them is taken for none`(_ text: String) {
        #expect(TraceParent(text) == nil)
    }

    /// All ways in: alone, in a batch, in one that is whole or nothing.
    @Test func `the trace of an event is with its delivery, and no phone learns it`() async throws {
        try await withPhone { doors in
            let field = "traceparent: 00-\(Self.id)-\(Self.parent)-01"
            let start = #""type":"T","audience":{"device":"phone-1","start":"adopt"},"state":{}}"#
            let ways: [(id: String, method: String, path: String, fields: [String])] = [
                ("traced", "PUT", "/v1/activities/traced", [field]),
                ("plain", "PUT", "/v1/activities/plain", []),
                ("line", "POST", "/v1/events", [field]),
                ("whole", "POST", "/v1/events?atomic=true", [field]),
            ]
            for (index, way) in ways.enumerated() {
                _ = try await doors.call(
                    "PUT", "/v1/devices/phone-1/tokens/activity:\(way.id)",
                    #"{"token":"cc3\#(index)"}"#)
                let line = #"{"activity":"\#(way.id)","do":"start","#
                let body = (way.method == "PUT" ? "{" : line) + start
                let taken = try await doors.call(way.method, way.path, body, fields: way.fields)
                #expect((200...201).contains(taken.status), "\(taken.text)")
                let expected = way.fields.isEmpty ? nil : Self.id
                var entry: JSONView?
                for _ in 1...100 where entry == nil {
                    let page = try json(
                        try await doors.call("GET", "/v1/activities/\(way.id)/deliveries"))
                    entry = page["deliveries"]?.elements.first { _ in true }
                }
                #expect(entry?["push"]?["result"]?.string == "accepted", "\(way.id)")
                #expect(entry?["trace_id"]?.string == expected, "\(way.id)")
                let id = try #require(entry?["id"]?.string)
                let shown = try json(try await doors.call("GET", "/v1/deliveries/\(id)"))
                #expect(shown["trace_id"]?.string == expected, "\(way.id)")
                let why = try json(
                    try await doors.call(
                        "GET", "/v1/activities/\(way.id)/explain?device=phone-1"))
                #expect(why["trace_id"]?.string == expected, "\(way.id)")
            }
            let texts = doors.sender.pushes.map { String(decoding: $0.payload, as: UTF8.self) }
            #expect(texts.count >= ways.count && !texts.contains { $0.contains(Self.id) })
        }
    }

    @Test func `of two fields none is taken, and the answer has a trace id all the same`()
        async throws
    {
        try await withDoors { doors in
            let one = "traceparent: 00-\(Self.id)-\(Self.parent)-01"
            let known = try json(try await doors.call("GET", "/v1/activities/none", fields: [one]))
            #expect(known["trace_id"]?.string == Self.id)
            let both = try json(
                try await doors.call("GET", "/v1/activities/none", fields: [one, one]))
            #expect(both["trace_id"]?.string != Self.id)
            #expect(both["trace_id"]?.string?.utf8.count == 32)
        }
    }
}
