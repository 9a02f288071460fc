import Testing
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

    @Test func `of two fields none is taken, and the answer has a trace id all the same`()
        async throws
    {
        try await withDoors { doors in
            let one = "traceparent: 00-\(Self.id)-\(Self.parent)-01"
            let known = try json(
                try await doors.call("GET", "/v1/activities/none", fields: [one]))
            #expect(known["trace_id"]?.string == Self.id)
            let both = try json(
                try await doors.call("GET", "/v1/activities/none", fields: [one, one]))
            #expect(both["trace_id"]?.string != Self.id)
            #expect(both["trace_id"]?.string?.utf8.count == 32)
        }
    }
}
