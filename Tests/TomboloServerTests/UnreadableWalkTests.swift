import Testing
import TomboloJSON

@testable import TomboloServer

/// What a key may not read, no answer tells it: each write that `produce` opens, done and tried,
/// on an activity with a state and an audience that another key has given.
@Suite struct UnreadableWalkTests {
    private static let secrets = ["s3cr3t-state", "s3cr3t-phone"]

    private static func fill(_ doors: DoorsUnderTest) async throws {
        let state = #"{"n":1,"whole":"s3cr3t-state"}"#
        for (path, body) in [
            ("/v1/devices/s3cr3t-phone", #"{"user":"u1","environment":"sandbox","os":"26.1"}"#),
            ("/v1/devices/s3cr3t-phone/tokens/start:Dog", #"{"token":"aa11"}"#),
            (
                "/v1/activities/dog",
                #"{"type":"Dog","audience":{"user":"u1"},"state":\#(state),"alert":{"title":"a"}}"#
            ),
        ] {
            let answer = try await doors.call("PUT", path, body)
            #expect(answer.status == 201, "\(answer.text)")
        }
    }

    /// What each write is asked with, and what the same write of an activity is in a batch.
    private static func asked() -> [(method: String, path: String, body: String?)] {
        let routes = RouteTable.routes.filter { $0.access == .produce && $0.method != "GET" }
        var asked: [(String, String, String?)] = routes.compactMap { route in
            Write.all.first { $0.operation == route.operation }.map {
                (route.method, $0.path, $0.body)
            }
        }
        #expect(asked.count == routes.count, "a write of produce has no row in Write.all")
        for line in [
            #"{"activity":"dog","do":"update","state":{"n":7},"alert":{"title":"b"}}"#,
            #"{"activity":"dog","do":"start","type":"Dog","state":{}}"#,
            #"{"activity":"dog","do":"play","flipbook":{"path":"/n","frames":[1,2],"every":"1s"}}"#,
            #"{"activity":"dog","do":"end"}"#,
        ] {
            asked.append(("POST", "/v1/events", line))
            asked.append(("POST", "/v1/events?atomic=true", line))
        }
        return asked
    }

    @Test(arguments: [true, false])
    func `a key that may not read an activity learns nothing of it`(isTry: Bool) async throws {
        try await withDoors { doors in
            try await Self.fill(doors)
            let key = try await doors.mint("produce")
            #expect(try await doors.call("GET", "/v1/activities/dog", key: key).status == 403)
            for (method, path, body) in Self.asked() {
                let mark = path.contains("?") ? "&" : "?"
                let answer = try await doors.call(
                    method, path + (isTry ? "\(mark)dry_run=true" : ""), body, key: key,
                    fields: isTry ? [] : ["Prefer: wait=0"])
                for secret in Self.secrets {
                    #expect(!answer.text.contains(secret), "\(method) \(path): \(answer.text)")
                }
            }
        }
    }

    @Test func `a key that may read it learns all`() async throws {
        try await withDoors { doors in
            try await Self.fill(doors)
            let key = try await doors.mint("produce,observe")
            let answer = try await doors.call(
                "PATCH", "/v1/activities/dog?dry_run=true", #"{"state":{"n":7}}"#, key: key)
            for secret in Self.secrets { #expect(answer.text.contains(secret)) }
            let start = try await doors.call(
                "PUT", "/v1/activities/cat?dry_run=true",
                #"{"type":"Dog","audience":{"user":"u1"},"state":{"own":"brought"}}"#,
                key: try await doors.mint("produce"))
            #expect(start.text.contains("brought") && !start.text.contains("s3cr3t"))
        }
    }
}
