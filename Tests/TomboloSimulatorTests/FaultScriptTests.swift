import Testing

@testable import TomboloSimulator

@Suite struct FaultScriptTests {
    private static let now = WallInstant(seconds: 1_800_000_000)

    private func rule(_ text: String) throws -> FaultRule {
        try #require(FaultRule.script([UInt8](text.utf8)).first)
    }

    private func push(_ token: String = "a1f0", type: PushType = .liveActivity) -> AcceptedPush {
        AcceptedPush(
            apnsID: "id", token: token, topic: .liveActivity("com.example.app"), type: type,
            priority: 10, expiration: .absent, collapseID: nil, payload: [], acceptedAt: Self.now)
    }

    @Test func `a script is read whole`() throws {
        let rules = try FaultRule.script(
            [UInt8](
                """
                {"rules":[{"token":"A1","push_type":"liveactivity","share":0.5,"times":3,
                  "from":"5s","for":"30s","every":"2m","status":503,"reason":"Shutdown",
                  "delay":"250ms","go_away":"Shutdown","delivered":true},
                 {"reset":"REFUSED_STREAM"},{"no_answer":true},{"abort":true},{"max_streams":1}]}
                """.utf8))
        #expect(rules.count == 5)
        #expect(rules[0].tokenPrefix == "a1")
        #expect(
            rules[0].outcome
                == .answer(.init(status: 503, reason: "Shutdown", goneFor: .zero)))
        #expect(rules[0].every == .seconds(120))
        #expect(rules[1].outcome == .silence(.reset(code: 7)))
        #expect(rules[4].streamsMax == 1)
        #expect(try rule(#"{"reason":"ExpiredToken"}"#).effect == "410 ExpiredToken")
    }

    @Test(arguments: [
        (#"{"rules":[{"status":503},{"statsu":503}]}"#, "/rules/1/statsu"),
        (#"{"status":200}"#, "/status"), (#"{"reason":"Nonsense"}"#, "/reason"),
        (#"{"status":503,"abort":true}"#, ""), (#"{"token":"a1"}"#, ""),
        (#"{"status":503,"share":0}"#, "/share"), (#"{"status":503,"share":1.5}"#, "/share"),
        (#"{"delay":"3 s"}"#, "/delay"), (#"{"delay":"9000h"}"#, "/delay"),
        (#"{"reset":"NOTHING"}"#, "/reset"), (#"{"reset":-1}"#, "/reset"),
        (#"{"status":503,"every":"5s"}"#, "/every"), (#"{"rules":{}}"#, "/rules"), ("[]", ""),
        ("{", ""),
    ])
    func `what is wrong is told with its place`(text: String, pointer: String) {
        #expect {
            try FaultRule.script([UInt8](text.utf8))
        } throws: { ($0 as? FaultScriptError)?.pointer == pointer }
    }

    @Test func `a window opens, closes and comes back`() throws {
        var script = FaultScript()
        script.add(
            try rule(#"{"from":"10s","for":"5s","every":"60s","max_streams":1}"#), at: Self.now)
        let open = [0, 9, 10, 14, 15, 69, 70, 74, 75, 131].map {
            script.streamsMax(at: Self.now + .seconds($0)) == 1
        }
        #expect(open == [false, false, true, true, false, false, true, true, false, true])
        let edges = [0, 10, 12, 15, 70].map {
            script.nextEdge(after: Self.now + .seconds($0)).map { ($0 - Self.now) / .seconds(1) }
        }
        #expect(edges == [10, 15, 15, 70, 75])
    }

    @Test func `the first rule that concerns a push takes it, so often as it says`() throws {
        var script = FaultScript()
        script.add(try rule(#"{"token":"b0","status":400}"#), at: Self.now)
        script.add(try rule(#"{"push_type":"widgets","status":429}"#), at: Self.now)
        script.add(try rule(#"{"times":2,"status":500}"#), at: Self.now)
        let statuses = [
            push("b0ff"), push("a0"), push("a0", type: .widgets), push("a0"), push("a0"),
        ]
        .map { push -> Int? in
            guard case .answer(let answer)? = script.takeRule(for: push, at: Self.now)?.outcome
            else {
                return nil
            }
            return answer.status
        }
        #expect(statuses == [400, 500, 429, 500, nil])
        #expect(script.entries.map(\.taken) == [1, 1, 2])
    }

    @Test func `a share is kept, and the same seed takes the same pushes`() throws {
        let taken = try (0..<2).map { _ in
            var script = FaultScript(seed: 7)
            script.add(try rule(#"{"share":0.05,"status":410}"#), at: Self.now)
            return (0..<10_000).filter { _ in script.takeRule(for: push(), at: Self.now) != nil }
        }
        #expect(taken[0] == taken[1])
        #expect((400...600).contains(taken[0].count))
    }

    @Test func `a rule is removed by its id, and only once`() throws {
        var script = FaultScript()
        let id = script.add(try rule(#"{"status":500}"#), at: Self.now)
        let removed = [script.remove(id), script.remove(id)]
        #expect(removed == [true, false])
        let rule = script.takeRule(for: push(), at: Self.now)
        #expect(rule == nil)
    }
}
