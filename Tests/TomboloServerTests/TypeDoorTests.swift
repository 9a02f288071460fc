import Testing
import TomboloJSON

@testable import TomboloServer

@Suite struct TypeDoorTests {
    private static let runner = """
        {"state":{"properties":{"lap":{"type":"string"},"at":{"format":"date-time"}},
        "required":["lap"]},"dates":"swift-reference"}
        """

    @Test func `a type is put, shown and put again`() async throws {
        try await withDoors { doors in
            let dry = try await doors.call("PUT", "/v1/types/Runner?dry_run=true", Self.runner)
            #expect(dry.status == 200)
            #expect(try json(dry)["dry_run"]?.bool == true)
            #expect(try json(dry)["result"]?.string == "created")
            #expect(try await doors.call("GET", "/v1/types/Runner").status == 404)
            let put = try await doors.call("PUT", "/v1/types/Runner", Self.runner)
            #expect(put.status == 201)
            #expect(try json(put)["result"]?.string == "created")
            let shown = try json(try await doors.call("GET", "/v1/types/Runner"))
            #expect(shown["app"]?.string == "com.example.app")
            #expect(shown["dates"]?.string == "swift-reference")
            let again = try await doors.call(
                "PUT", "/v1/types/Runner",
                Self.runner.replacing(#"["lap"]"#, with: #"["lap","at"]"#))
            #expect(again.status == 200)
            let lint = try json(again)["lint"]?.elements.first { _ in true }
            #expect(lint?["code"]?.string == "new-required-field")
            #expect(lint?["type"]?.string == "/problems/new-required-field")
            let wrong = try await doors.call(
                "PUT", "/v1/types/Runner", #"{"state":{"properties":{"a":{"typ":1}}}}"#)
            #expect(wrong.status == 422)
            #expect(wrong.text.contains("/state/properties/a/typ"))
        }
    }

    @Test func `a type that running cards do not fit says so, in its dry run too`() async throws {
        try await withDoors { doors in
            _ = try await doors.call(
                "PUT", "/v1/activities/cat-7", #"{"type":"Runner","state":{"lap":1}}"#)
            for path in ["/v1/types/Runner?dry_run=true", "/v1/types/Runner"] {
                let answer = try await doors.call("PUT", path, Self.runner)
                #expect(answer.text.contains("type-refuses-running"), "\(path): \(answer.text)")
                #expect(answer.text.contains("1 of the 1 running"), "\(path): \(answer.text)")
            }
        }
    }

    @Test func `a state that does not fit is a 422 with pointers, and nothing is stored`()
        async throws
    {
        try await withDoors { doors in
            _ = try await doors.call("PUT", "/v1/types/Runner", Self.runner)
            let start = try await doors.call(
                "PUT", "/v1/activities/cat-7", #"{"type":"Runner","state":{"lap":1}}"#)
            #expect(start.status == 422)
            #expect(try json(start)["code"]?.string == "state-invalid")
            let first = try json(start)["errors"]?.elements.first { _ in true }
            #expect(first?["pointer"]?.string == "/state/lap")
            #expect(try await doors.call("GET", "/v1/activities/cat-7").status == 404)
        }
    }

    @Test func `a dry run answers with the payload, and stores nothing`() async throws {
        try await withDoors { doors in
            _ = try await doors.call("PUT", "/v1/types/Runner", Self.runner)
            let dry = try await doors.call(
                "PUT", "/v1/activities/cat-7?dry_run=true",
                #"{"type":"Runner","state":{"lap":"1","at":"2023-11-14T22:13:20Z"}}"#)
            #expect(dry.status == 200)
            let view = try json(dry)
            #expect(view["dry_run"]?.bool == true)
            let push = try #require(view["push"])
            let state = push["payload"]?["aps"]?["content-state"]
            #expect(state?["at"]?.integer == 721_692_800)
            #expect(
                push["payload"].map { Int64($0.raw.count) } == push["payload_bytes"]?.integer)
            #expect(push["limit_bytes"]?.integer == 4_096)
            #expect(try await doors.call("GET", "/v1/activities/cat-7").status == 404)
            let log = try json(try await doors.call("GET", "/v1/log"))
            #expect(log["events"]?.count == 0)
        }
    }

    @Test func `every lint has a page where it says`() async throws {
        try await withDoors { doors in
            let list = try await doors.call("GET", "/problems")
            #expect(list.text.contains("/problems/start-without-alert  lint"))
            let page = try await doors.call("GET", "/problems/start-without-alert")
            #expect(page.status == 200)
            #expect(page.text.contains("What happens") && page.text.contains("Fix"))
        }
    }

    @Test func `dead letters are listed and retried, and a set of tokens is taken`() async throws {
        try await withDoors { doors in
            let page = try json(try await doors.call("GET", "/v1/dead-letters"))
            #expect(page["dead_letters"]?.count == 0)
            let none = try await doors.call(
                "POST", "/v1/dead-letters/retry", #"{"id":"dead_1"}"#)
            #expect(none.status == 404)
            let all = try await doors.call("POST", "/v1/dead-letters/retry", #"{"where":{}}"#)
            #expect(try json(all)["retried"]?.integer == 0)
            try await doors.registerPhone()
            let set = try await doors.call(
                "PUT", "/v1/devices/phone-1/tokens", #"{"tokens":{"widget":{"token":"aabb"}}}"#)
            #expect(set.status == 200)
            let shown = try json(try await doors.call("GET", "/v1/devices/phone-1"))
            #expect(shown["tokens"]?.elements.compactMap { $0["name"]?.string } == ["widget"])
        }
    }

    @Test func `a producer lowers a type's class, and only an operator raises it`() async throws {
        try await withDoors { doors in
            let producer = try await doors.mint("produce")
            let put = { (budgetClass: String, key: String) in
                try await doors.call(
                    "PUT", "/v1/types/Runner", #"{"budget_class":"\#(budgetClass)"}"#, key: key)
            }
            for raised in ["frequent", "lab"] {
                let answer = try await put(raised, producer)
                #expect(answer.status == 403)
                let problem = try json(answer)
                #expect(problem["required_scope"]?.string == "operate")
                #expect(
                    problem["errors"]?.elements.compactMap { $0["pointer"]?.string }
                        == ["/budget_class"])
            }
            #expect(try await put("standard", producer).status == 201)
            #expect(try await put("frequent", doors.key).status == 200)
            #expect(try await put("frequent", producer).status == 200)
            #expect(try await put("lab", producer).status == 403)
            #expect(try await put("standard", producer).status == 200)
            #expect(try await put("frequent", producer).status == 403)
        }
    }
}
