import Testing
import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloRelay

@testable import TomboloServer

/// Numbers that once ended the relay, through its doors.
@Suite struct HostileNumberTests {
    private static let clips = "/v1/activities/cat-7/clips"

    @Test func `a flip-book whose length overflows is refused, asked in earnest or for a plan`()
        async throws
    {
        try await withDoors { doors in
            _ = try await doors.call("PUT", "/v1/activities/cat-7", startCat)
            let book = """
                {"flipbook":{"path":"/image","frames":["a","b","c"],"every":"1h","loop":1000000}}
                """
            for query in ["?dry_run=true", ""] {
                let answer = try await doors.call("POST", Self.clips + query, book)
                #expect(answer.status == 422)
                let pointer = try json(answer)["errors"]?.elements.first { _ in true }
                #expect(pointer?["pointer"]?.string == "/flipbook/loop")
            }
            let shown = try await doors.call("GET", "/v1/activities/cat-7")
            #expect(try json(shown)["version"]?.integer == 1)
        }
    }

    @Test(arguments: [
        "-9223372036854775808", "9223372036854775807", "9007199254740992", "-9007199254740993",
        "1e308", "-1e308", "5e-324", "-0.0", "0", "1",
    ])
    func `every relevance that is taken is read back`(relevance: String) async throws {
        try await withDoors { doors in
            let start = try await doors.call(
                "PUT", "/v1/activities/cat-7",
                #"{"type":"Any","state":{},"relevance":\#(relevance)}"#)
            #expect(start.status == 201)
            for path in [
                "/v1/activities/cat-7", "/v1/activities", "/v1/log", "/v1/log/1",
            ] {
                #expect(try await doors.call("GET", path).status == 200)
            }
            let shown = try await doors.call("GET", "/v1/activities/cat-7")
            #expect(try json(shown)["relevance"]?.double == Double(relevance))
        }
    }

    @Test func `a duration that overflows is refused wherever one may stand`() async throws {
        try await withDoors { doors in
            let long = String(repeating: "100d", count: 1_068)
            let requests = [
                ("PUT", "/v1/activities/a", #"{"type":"Any","state":{},"stale_after":"\#(long)"}"#),
                ("PUT", "/v1/activities/a", #"{"type":"Any","state":{},"alert_ttl":"\#(long)"}"#),
                ("PATCH", "/v1/activities/cat-7", #"{"state":{},"stale_after":"\#(long)"}"#),
                ("POST", "/v1/activities/cat-7/end", #"{"dismiss":"after \#(long)"}"#),
                (
                    "POST", Self.clips,
                    #"{"flipbook":{"path":"/image","frames":[1,2],"every":"\#(long)"}}"#
                ),
                ("POST", Self.clips, #"{"tween":{"path":"/image","to":1,"duration":"\#(long)"}}"#),
            ]
            _ = try await doors.call("PUT", "/v1/activities/cat-7", startCat)
            for (method, path, body) in requests {
                let answer = try await doors.call(method, path, body)
                #expect(answer.status == 422, "\(method) \(path)")
            }
        }
    }

    @Test func `tweens at the ends of their numbers are planned, played and read back`()
        async throws
    {
        try await withDoors { doors in
            _ = try await doors.call(
                "PUT", "/v1/activities/cat-7", #"{"type":"Any","state":{"angle":[1e12,-1e12]}}"#)
            for easing in [
                #"{"cubicBezier":[0.5,1000,0.5,1000]}"#, #"{"cubicBezier":[0,-1000,1,-1000]}"#,
                #"{"spring":{"duration":"10ms","bounce":0.95}}"#, #""bouncy""#,
            ] {
                let tween = """
                    {"tween":{"path":"/angle","from":[-1e12,1e12],"to":[1e12,-1e12],
                     "duration":"1h","every":"10ms","easing":\(easing)}}
                    """
                for query in ["?dry_run=true", ""] {
                    let answer = try await doors.call("POST", Self.clips + query, tween)
                    #expect(answer.status == (query.isEmpty ? 201 : 200))
                }
                #expect(try await doors.call("GET", "/v1/activities/cat-7").status == 200)
            }
            let refused = try await doors.call(
                "POST", Self.clips,
                """
                {"tween":{"path":"/angle","from":[1e306,0],"to":[0,0],
                 "easing":{"cubicBezier":[0.5,1e308,0.5,1e308]}}}
                """)
            #expect(refused.status == 422)
        }
    }

    // MARK: Depth

    /// `levels` objects inside one another.
    private static func nested(_ levels: Int) -> String {
        String(repeating: #"{"a":"#, count: levels - 1) + "{}"
            + String(repeating: "}", count: levels - 1)
    }

    @Test func `what is taken, however deep, is stored, sent and read back`() async throws {
        try await withPhone { doors in
            for levels in 26...JSONLimits.stateDepthMax {
                let id = "deep-\(levels)"
                let body = """
                    {"type":"RunnerWidgetAttributes","app":"com.example.app",
                     "audience":{"device":"phone-1"},"attributes":\(Self.nested(levels)),
                     "state":\(Self.nested(levels)),
                     "alert":{"title":{"loc-key":"k","loc-args":[\(Self.nested(levels - 3))]}}}
                    """
                for query in ["?dry_run=true", ""] {
                    let start = try await doors.call(
                        "PUT", "/v1/activities/\(id)\(query)", body, fields: ["Prefer: wait=2"])
                    #expect(start.status == (query.isEmpty ? 201 : 200), "\(levels)")
                    _ = try json(start)
                }
                for path in [
                    "/v1/activities/\(id)", "/v1/activities", "/v1/log", "/v1/log?activity=\(id)",
                    "/v1/activities/\(id)?at_version=1",
                ] {
                    let read = try await doors.call("GET", path)
                    #expect(read.status == 200, "\(path)")
                    #expect(throws: Never.self) { try json(read) }
                }
            }
            for push in doors.sender.pushes {
                #expect(throws: Never.self) { try JSONDocument(push.payload) }
            }
            let tooDeep = try await doors.call(
                "PUT", "/v1/activities/deeper",
                #"{"type":"Any","state":\#(Self.nested(JSONLimits.stateDepthMax + 1))}"#)
            #expect(tooDeep.status == 400)
        }
    }

    @Test func `a frame makes no state deeper than a state may be`() async throws {
        try await withDoors { doors in
            let state = Self.nested(20)
            _ = try await doors.call(
                "PUT", "/v1/activities/cat-7", #"{"type":"Any","state":\#(state)}"#)
            let path = String(repeating: "/a", count: 19)
            for (levels, status) in [(12, 201), (13, 422)] {
                let answer = try await doors.call(
                    "POST", Self.clips,
                    """
                    {"flipbook":{"path":"\(path)","frames":[1,\(Self.nested(levels))],
                     "every":"1s"}}
                    """)
                #expect(answer.status == status, "\(levels)")
            }
            #expect(try await doors.call("GET", "/v1/activities").status == 200)
        }
    }

    // MARK: Numbers that no double holds

    @Test(arguments: ["1e400", "-1e400", "1e-400", "2e-324"])
    func `a number that no decoder takes is refused, wherever it stands`(number: String)
        async throws
    {
        try await withDoors { doors in
            _ = try await doors.call("PUT", "/v1/activities/cat-7", startCat)
            for (method, path, body) in [
                ("PUT", "/v1/activities/a", #"{"type":"Any","state":{"x":%}}"#),
                ("PUT", "/v1/activities/a?dry_run=true", #"{"type":"Any","state":{"x":[%]}}"#),
                (
                    "PUT", "/v1/activities/a",
                    #"{"type":"Any","state":{},"attributes":{"x":{"y":%}}}"#
                ),
                ("PATCH", "/v1/activities/cat-7", #"{"state":{"speed":%}}"#),
                ("PATCH", "/v1/activities/cat-7", #"{"relevance":%}"#),
                (
                    "POST", Self.clips,
                    #"{"flipbook":{"path":"/speed","frames":[1,%],"every":"1s"}}"#
                ),
            ] {
                let answer = try await doors.call(method, path, body.replacing("%", with: number))
                #expect(answer.status == 400, "\(method) \(path)")
                #expect(try json(answer)["code"]?.string == "invalid-json")
            }
            let line = #"{"activity":"b","do":"start","type":"Any","state":{"x":\#(number)}}"#
            let batch = try await doors.call(
                "POST", "/v1/events", line, fields: ["Content-Type: application/x-ndjson"])
            #expect(batch.text.contains(#""ok":false"#))
        }
    }

    // MARK: Size

    @Test func `a change counts with the largest frame of the clip that plays`() async throws {
        try await withDoors { doors in
            _ = try await doors.call(
                "PUT", "/v1/activities/cat-7", #"{"type":"Any","state":{"image":"","text":""}}"#)
            let frame = String(repeating: "f", count: 2_000)
            let play = try await doors.call(
                "POST", Self.clips,
                #"{"flipbook":{"path":"/image","frames":["a","\#(frame)"],"every":"1s"}}"#)
            #expect(play.status == 201)
            let text = String(repeating: "t", count: 2_000)
            for query in ["?dry_run=true", ""] {
                let change = try await doors.call(
                    "PATCH", "/v1/activities/cat-7\(query)", #"{"state":{"text":"\#(text)"}}"#)
                #expect(change.status == 422)
                #expect(try json(change)["code"]?.string == "payload-too-large")
                #expect(change.text.contains("clip_2 plays"))
            }
            _ = try await doors.call("DELETE", Self.clips + "/clip_2")
            let change = try await doors.call(
                "PATCH", "/v1/activities/cat-7",
                #"{"state":{"image":"a","text":"\#(text)"}}"#)
            #expect(change.status == 200)
        }
    }
}
