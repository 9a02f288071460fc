import Testing
import TomboloJSON
import TomboloRelay

@testable import TomboloServer

@Suite struct BatchDoorTests {
    private let lines = """
        {"id":"e1","activity":"cat-7","do":"start","type":"Any","state":{"lap":"1/5"}}
        {"id":"e2","activity":"cat-8","do":"update","state":{"lap":"2/5"}}
        not JSON

        {"id":"e3","activity":"cat-7","do":"update","state":{"lap":"2/5"}}
        {"id":"e4","activity":"cat-7","do":"updaet","state":{"lap":"2/5"}}
        {"id":"e5","activity":"cat-7","do":"end"}
        """

    @Test func `each line has its own answer, in order, and a bad one stops nothing`() async throws
    {
        let lines = lines
        try await withDoors { doors in
            let answer = try await doors.call("POST", "/v1/events", lines)
            #expect(answer.status == 200)
            #expect(answer.fields["content-type"] == "application/x-ndjson")
            let results = try answer.lines.map { try JSONDocument(Array($0.utf8)).root }
            try #require(results.count == 6)
            #expect(results.map { $0["ok"]?.bool } == [true, false, false, true, false, true])
            #expect(results[0]["id"]?.string == "e1")
            #expect(results[0]["seq"]?.integer == 1)
            #expect(results[1]["problem"]?["code"]?.string == "unknown-activity")
            #expect(results[2]["problem"]?["code"]?.string == "invalid-json")
            #expect(results[2]["line"]?.integer == 3)
            #expect(results[3]["version"]?.integer == 2)
            #expect(
                results[4]["problem"]?["errors"]?.elements.first { _ in true }?["pointer"]?.string
                    == "/do")
            #expect(results[5]["seq"]?.integer == 3)
        }
    }

    @Test func `what repeats is short, and only what is no command at all ends a batch`()
        async throws
    {
        try await withDoors { doors in
            func send(_ lines: [String]) async throws -> [JSONView] {
                let answer = try await doors.call(
                    "POST", "/v1/events", lines.joined(separator: "\n") + "\n")
                return try answer.lines.map { try JSONDocument(Array($0.utf8)).root }
            }
            let unknown = #"{"id":"e","activity":"none","do":"update","state":{}}"#
            let start = #"{"activity":"cat","do":"start","type":"Any","state":{}}"#
            // A live one may follow any number of refused commands.
            let many = (0..<RefusedLines.idleMax + 200).map {
                unknown.replacing("\"e\"", with: "\"e\($0)\"")
            }
            var results = try await send(many + [start, unknown])
            try #require(results.count == many.count + 2)
            #expect(results[9]["problem"]?["code"]?.string == "unknown-activity")
            #expect(results[10]["problem"] == nil)
            #expect(results[10]["code"]?.string == "unknown-activity")
            #expect(results[10]["status"]?.integer == 404 && results[10]["line"]?.integer == 11)
            #expect(results[10]["id"]?.string == "e10")
            #expect(results[many.count]["ok"]?.bool == true)
            #expect(results[many.count + 1]["problem"]?["status"]?.integer == 404)
            // No command at all: one line less than the bound ends nothing.
            let bad = Array(repeating: "1", count: RefusedLines.idleMax - 1)
            results = try await send(bad + [unknown] + bad + ["1"] + bad + [start])
            #expect(results.count < 3 * RefusedLines.idleMax)
            let end = try #require(results.last?["problem"]?["detail"]?.string)
            #expect(end.contains("in a row are no commands"))
        }
    }

    @Test func `the same lines again are the same events`() async throws {
        let lines = lines
        try await withDoors { doors in
            let first = try await doors.call("POST", "/v1/events", lines)
            let second = try await doors.call("POST", "/v1/events", lines)
            let seqs = try [first, second].map { answer in
                try answer.lines.map { try JSONDocument(Array($0.utf8)).root["seq"]?.integer }
            }
            #expect(seqs[0] == seqs[1])
            #expect(await doors.relay.lastSeq == 3)
        }
    }

    @Test func `a dry run tells what each line would do after those before it`() async throws {
        let lines = lines
        try await withDoors { doors in
            let answer = try await doors.call("POST", "/v1/events?dry_run=true", lines)
            let results = try answer.lines.map { try JSONDocument(Array($0.utf8)).root }
            #expect(results.map { $0["ok"]?.bool } == [true, false, false, true, false, true])
            #expect(results.map { $0["run"]?["version"]?.integer } == [1, nil, nil, 2, nil, 3])
            #expect(results[3]["run"]?["push"]?["payload"]?["aps"]?["event"]?.string == "update")
            #expect(results[1]["problem"]?["code"]?.string == "unknown-activity")
            #expect(await doors.relay.lastSeq == 0)
            let atomic = try await doors.call("POST", "/v1/events?dry_run=true&atomic=true", lines)
            #expect(atomic.status == 404)
            #expect(try json(atomic)["line"]?.integer == 2)
        }
    }

    @Test func `a line that would fail in silence is told with its answer`() async throws {
        try await withDoors { doors in
            let answer = try await doors.call(
                "POST", "/v1/events",
                #"{"activity":"cat-7","do":"start","type":"Any","state":{"end_date":1800000000}}"#)
            let result = try JSONDocument(Array(answer.lines.first?.utf8 ?? "".utf8)).root
            #expect(result["ok"]?.bool == true)
            let lint = result["lint"]?.elements.first { _ in true }
            #expect(lint?["code"]?.string == "date-in-another-epoch")
            #expect(lint?["pointer"]?.string == "/state/end_date")
        }
    }

    @Test func `an atomic batch is stored whole or not at all`() async throws {
        let lines = lines
        try await withDoors { doors in
            let spoiled = try await doors.call("POST", "/v1/events?atomic=true", lines)
            #expect(spoiled.status == 400)
            #expect(try json(spoiled)["line"]?.integer == 3)
            #expect(await doors.relay.lastSeq == 0)
            let refused = try await doors.call(
                "POST", "/v1/events?atomic=true",
                lines.split(separator: "\n").prefix(2).joined(separator: "\n"))
            #expect(refused.status == 404)
            #expect(try json(refused)["line"]?.integer == 2)
            #expect(await doors.relay.lastSeq == 0)
            let whole = try await doors.call(
                "POST", "/v1/events?atomic=true",
                """
                {"activity":"a","do":"start","type":"Any","state":{}}
                {"activity":"a","do":"end"}
                """)
            #expect(whole.status == 200)
            #expect(whole.lines.count == 2)
            #expect(await doors.relay.lastSeq == 2)
        }
    }

    @Test func `a line at its limit is taken, a longer one has its own problem`() async throws {
        try await withDoors { doors in
            func line(_ id: String, bytes: Int) -> String {
                let start =
                    #"{"id":"\#(id)","activity":"\#(id)","do":"start","type":"T","state":{}}"#
                return start + String(repeating: " ", count: bytes - start.utf8.count)
            }
            let file = try TemporaryFile(
                [line("a", bytes: 65_537), line("b", bytes: 65_536), line("c", bytes: 100)]
                    .joined(separator: "\n"))
            defer { file.remove() }
            let answer = try await doors.call("POST", "/v1/events", "@\(file.path)")
            let results = try answer.lines.map { try JSONDocument(Array($0.utf8)).root }
            #expect(results.map { $0["ok"]?.bool } == [false, true, true])
            #expect(results[0]["problem"]?["code"]?.string == "body-too-large")
            #expect(results[0]["line"]?.integer == 1)
        }
    }

    @Test func `an atomic batch beyond its lines is refused`() async throws {
        try await withDoors {
            $0.atomicLinesMax = 2
        } _: { doors in
            func batch(_ count: Int) -> String {
                (1...count).map { #"{"activity":"a\#($0)","do":"start","type":"T","state":{}}"# }
                    .joined(separator: "\n")
            }
            let beyond = try await doors.call("POST", "/v1/events?atomic=true", batch(3))
            #expect(beyond.status == 413)
            #expect(await doors.relay.lastSeq == 0)
            #expect(try await doors.call("POST", "/v1/events?atomic=true", batch(2)).status == 200)
        }
    }

    @Test func `thousands of lines come back in order over every version of HTTP`() async throws {
        try await withDoors { doors in
            let file = try TemporaryFile(
                (1...3_000).map {
                    #"{"id":"n\#($0)","activity":"a\#($0 % 7)","do":"start","type":"T","state":{}}"#
                        + "\n"
                }
                .joined())
            defer { file.remove() }
            for option in ["--http1.1", "--http2-prior-knowledge"] {
                let answer = try await doors.call(
                    "POST", "/v1/events", "@\(file.path)", options: [option])
                let ids = try answer.lines.map {
                    try JSONDocument(Array($0.utf8)).root["id"]?.string
                }
                #expect(ids == (1...3_000).map { "n\($0)" })
            }
        }
    }
}
