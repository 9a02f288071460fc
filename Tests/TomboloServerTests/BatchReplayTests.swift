import Testing
import TomboloCore
import TomboloJSON
import TomboloRelay

@testable import TomboloServer

/// Batches that come again, in whole or in part, and lines that come twice in one.
@Suite struct BatchReplayTests {
    private static func line(_ id: String?, _ activity: String, n: Int = 0) -> String {
        let name = id.map { #""id":"\#($0)","# } ?? ""
        return #"{\#(name)"activity":"\#(activity)","do":"start","type":"Any","#
            + #""state":{"n":\#(n)}}"#
    }

    private static func post(
        _ doors: DoorsUnderTest, _ lines: [String], atomic: Bool = true
    ) async throws -> (status: Int, lines: [JSONView], problem: JSONView) {
        let answer = try await doors.call(
            "POST", "/v1/events" + (atomic ? "?atomic=true" : ""), lines.joined(separator: "\n"))
        let all = try answer.lines.map { try JSONDocument(Array($0.utf8)).root }
        return (answer.status, all, try #require(all.first))
    }

    @Test func `an atomic batch that is sent again is answered as before`() async throws {
        try await withDoors { doors in
            let batch = [Self.line("e1", "a"), Self.line("e2", "b")]
            let first = try await Self.post(doors, batch)
            let again = try await Self.post(doors, batch)
            #expect((first.status, again.status) == (200, 200))
            #expect(
                first.lines.map { $0["seq"]?.integer } == again.lines.map { $0["seq"]?.integer })
            #expect(again.lines.map { $0["replayed"]?.bool } == [true, true])
            #expect(await doors.relay.lastSeq == 2)
            let other = try await Self.post(doors, [Self.line("e1", "a", n: 1), batch[1]])
            #expect(other.problem["code"]?.string == "idempotency-key-reused")
            #expect(other.problem["line"]?.integer == 1)
        }
    }

    @Test func `where only some lines are on record both sets are named`() async throws {
        try await withDoors { doors in
            _ = try await Self.post(doors, [Self.line("e1", "a"), Self.line("e2", "b")])
            let (status, _, problem) = try await Self.post(
                doors, [Self.line("e3", "c"), Self.line("e1", "a"), Self.line("e4", "d")])
            #expect(status == 409)
            #expect(problem["code"]?.string == "batch-partly-there")
            #expect(problem["on_record"]?.elements.compactMap(\.integer) == [2])
            #expect(problem["not_on_record"]?.elements.compactMap(\.integer) == [1, 3])
            #expect(problem["detail"]?.string?.contains("lines 2 are on record") == true)
            #expect(await doors.relay.lastSeq == 2)
        }
    }

    @Test func `a line without an id makes the batch a new one, and the answer says so`()
        async throws
    {
        try await withDoors { doors in
            let batch = [Self.line("e1", "a"), Self.line(nil, "b")]
            _ = try await Self.post(doors, batch)
            let again = try await Self.post(doors, batch)
            #expect(again.status == 412)
            #expect(again.problem["detail"]?.string?.contains("line 2 has no id") == true)
            let nameless = [Self.line(nil, "c")]
            _ = try await Self.post(doors, nameless)
            let twice = try await Self.post(doors, nameless)
            #expect(twice.status == 412)
            #expect(twice.problem["detail"]?.string?.contains("Give every line an id") == true)
        }
    }

    @Test(arguments: [false, true])
    func `the same line twice in one batch is one event`(atomic: Bool) async throws {
        try await withDoors { doors in
            let (first, other) = (Self.line("e1", "a"), Self.line("e2", "b"))
            let answer = try await Self.post(doors, [first, first, other, first], atomic: atomic)
            #expect(answer.status == 200)
            #expect(answer.lines.allSatisfy { $0["ok"]?.bool == true }, "\(answer)")
            #expect(answer.lines.map { $0["seq"]?.integer } == [1, 1, 2, 1])
            let replayed = answer.lines.map { $0["replayed"]?.bool ?? false }
            #expect(replayed == [false, true, false, true])
            #expect(await doors.relay.lastSeq == 2)
        }
    }

    @Test(arguments: [false, true])
    func `one id with two bodies names both lines`(atomic: Bool) async throws {
        try await withDoors { doors in
            let lines = [Self.line("e1", "a"), Self.line("e2", "b"), Self.line("e1", "c")]
            let answer = try await Self.post(doors, lines, atomic: atomic)
            let problem = atomic ? answer.problem : answer.lines[2]["problem"]
            #expect(problem?["code"]?.string == "idempotency-key-reused")
            #expect(problem?["detail"]?.string?.hasPrefix("lines 1 and 3 have the same id") == true)
            #expect(await doors.relay.lastSeq == (atomic ? 0 : 2))
        }
    }

    @Test(arguments: ["", "&atomic=true"])
    func `a dry run says of ids that come twice what the batch would`(query: String) async throws {
        try await withDoors { doors in
            let (first, clash) = (Self.line("e1", "a"), Self.line("e1", "c"))
            func tried(_ lines: [String]) async throws -> [JSONView] {
                let answer = try await doors.call(
                    "POST", "/v1/events?dry_run=true\(query)", lines.joined(separator: "\n"))
                return try answer.lines.map { try JSONDocument(Array($0.utf8)).root }
            }
            let twice = try await tried([first, "{", first].filter { query.isEmpty || $0 != "{" })
            #expect(twice.first?["ok"]?.bool == true && twice.last?["ok"]?.bool == true)
            let problem = try await tried([first, clash]).last
            let code = problem?["problem"]?["code"] ?? problem?["code"]
            #expect(code?.string == "idempotency-key-reused")
        }
    }
}
