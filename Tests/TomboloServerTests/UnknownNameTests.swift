import Testing
import TomboloAPI
import TomboloCore
import TomboloJSON

@testable import TomboloServer

/// An empty list looks like an answer: of a misspelt name it is none.
@Suite struct UnknownNameTests {
    @Test(arguments: [
        "/v1/deliveries?activity=nope", "/v1/deliveries?device=nope",
        "/v1/dead-letters?activity=nope", "/v1/dead-letters?device=nope",
        "/v1/budgets?activity=nope", "/v1/budgets?device=nope", "/v1/log?activity=nope",
    ])
    func `a list of what belongs to a name that is not there is refused`(
        path: String
    ) async throws {
        try await withDoors { doors in
            let refused = try await doors.call("GET", path)
            #expect(refused.status == 404)
            let code = try json(refused)["code"]?.string
            #expect(code == (path.contains("device=") ? "unknown-device" : "unknown-activity"))
            _ = try await doors.call("PUT", "/v1/activities/nope", startCat)
            _ = try await doors.call("PUT", "/v1/devices/nope", #"{"app":"com.example.app"}"#)
            #expect(try await doors.call("GET", path).status == 200)
        }
    }

    @Test(arguments: [
        ("/v1/log?fact=card.begun", "card.began"),
        ("/v1/tail?fact=action,timeline.du", "timeline.due"),
        ("/v1/log?result=acepted", "accepted"), ("/v1/tail?result=merged,skiped", "skipped"),
        ("/v1/log?kind=facts", "fact"), ("/v1/tail?kind=comand", "command"),
        ("/v1/log?do=updat", "update"), ("/v1/deliveries?result=acepted", "accepted"),
        ("/v1/activities?status=activ", "active"),
    ])
    func `a word of a query that is not known is refused with the nearest`(
        path: String, near: String
    ) async throws {
        try await withDoors { doors in
            let refused = try await doors.call("GET", path)
            #expect(refused.status == 400)
            let problem = try json(refused)
            #expect(problem["code"]?.string == "invalid-query")
            let detail = problem["detail"]?.string ?? ""
            #expect(detail.hasSuffix("; did you mean \"\(near)\"?"), "\(detail)")
        }
    }

    @Test func `facts that explanations and the history read may be asked for by name`() {
        let read = Evidence.phoneKinds.union(Evidence.relayKinds).union(DeliveryRecord.kinds)
            .union([NewFact.thinned, DeviceAction.factKind])
        #expect(read.subtracting(FactKinds.all).isEmpty)
        #expect(FactKinds.results.count == DeliveryRecord.kinds.count)
    }

    @Test(arguments: ["/v1/timelines/door/reload", "/v1/controls/lock/reload"])
    func `a reload for a user without a name is refused`(path: String) async throws {
        try await withDoors { doors in
            let refused = try await doors.call("POST", path, #"{"user":""}"#)
            #expect(refused.status == 422)
            #expect(refused.text.contains(#""pointer":"/user""#), "\(refused.text)")
            #expect(try await doors.call("POST", path, #"{"user":"u1"}"#).status == 202)
        }
    }

    @Test func `a retry of the dead letters of a name that is not there is refused`() async throws {
        try await withDoors { doors in
            for name in ["activity", "device"] {
                let body = #"{"where":{"\#(name)":"nope"}}"#
                let refused = try await doors.call("POST", "/v1/dead-letters/retry", body)
                #expect(refused.status == 404)
                #expect(try json(refused)["code"]?.string == "unknown-\(name)")
            }
        }
    }
}
