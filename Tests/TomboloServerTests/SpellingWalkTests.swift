import Testing
import TomboloAPI
import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloRelay

@testable import TomboloServer

/// Every write of the API with other spellings of its body, with `null`, and with an empty alert.
/// `Write.all` has each route of the table, and the description says what a body may have. So a new
/// door is met without being named here.
@Suite struct SpellingWalkTests {
    /// The same value with white space, and with each letter and slash of its texts escaped.
    private static func respelled(_ body: String) -> String {
        var text = ""
        var inString = false
        for byte in body.utf8 {
            let character = Character(Unicode.Scalar(byte))
            if byte == 0x22 { inString.toggle() }
            if inString, character.isLetter || byte == 0x2f {
                let digits = String(byte, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else {
                text.append(character)
                if !inString, "{[,:".contains(character) { text += " \t" }
            }
        }
        return text + " "
    }

    /// Calls `look` for each write with a body, then does the write.
    private static func walk(
        _ look:
            @escaping @Sendable (
                DoorsUnderTest, Write, _ body: String, _ method: String, _ path: String
            ) async throws -> Void
    ) async throws {
        let shelf = ChannelShelf()
        try await withDoors(channels: shelf) { doors in
            doors.doors.phoneWall = PhoneWall(
                tenant: DoorsUnderTest.tenant, control: PhoneShelf())
            doors.doors.reload = { _ in [] }
            try await DryRunWalkTests.fill(doors)
            for write in Write.all {
                let path = write.path
                    .replacing("KEY", with: try await DryRunWalkTests.anotherKey(doors))
                    .replacing("REFUSED", with: try await DryRunWalkTests.refused(doors))
                let method = try #require(
                    RouteTable.routes.first { $0.operation == write.operation }
                ).method
                if let body = write.body { try await look(doors, write, body, method, path) }
                let done = try await doors.call(
                    method, path, write.body.map(Self.respelled))
                #expect((200...202).contains(done.status), "\(write.operation): \(done.text)")
            }
            let page = try await doors.relay.events(EventQuery(tenant: DoorsUnderTest.tenant))
            #expect(page.events.count > 5)
            for event in page.events {
                let text = String(decoding: event.event.body, as: UTF8.self)
                #expect(JSON.shortest(of: event.event.body) == nil, "stored as sent: \(text)")
            }
            for push in doors.sender.pushes {
                #expect(JSON.shortest(of: push.payload) == nil, "pushed as sent")
            }
        }
    }

    private static func dryRun(_ path: String) -> String {
        path + (path.contains("?") ? "&" : "?") + "dry_run=true"
    }

    @Test func `a body in another spelling is answered alike, and kept in its shortest`()
        async throws
    {
        try await Self.walk { doors, write, body, method, path in
            let plain = try await doors.call(method, Self.dryRun(path), body)
            let other = try await doors.call(method, Self.dryRun(path), Self.respelled(body))
            #expect(plain.status == 200, "\(write.operation): \(plain.text)")
            // A pause's answer has the time, and so has a push.
            let time = /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z|"timestamp":[0-9]+/
            #expect(
                other.text.replacing(time, with: "TIME")
                    == plain.text.replacing(time, with: "TIME"),
                "\(write.operation)")
        }
    }

    /// The schema of a write's body: its members, and those that are required.
    private static func schema(
        _ operation: TomboloServer.Operation
    ) throws -> (members: [String], required: [String]) {
        let description = try JSONDocument(APIDescription.bytes).root
        let route = try #require(RouteTable.routes.first { $0.operation == operation })
        let content = description["paths"]?[route.path.text]?[route.method.lowercased()]?[
            "requestBody"]?["content"]
        let body = content?.members.first { _ in true }?.value["schema"]
        guard let target = body?["$ref"]?.string,
            let schema = JSONPointer(String(target.dropFirst())).flatMap(description.at)
        else { return ([], []) }
        return (
            schema["properties"]?.members.map(\.0) ?? [],
            schema["required"]?.elements.compactMap(\.string) ?? []
        )
    }

    private static func setting(_ name: String, to value: String, in body: String) throws -> String
    {
        let known = try JSON(validating: Array(body.utf8))
        let changed = known.setting(
            JSONPointer(tokens: [name]), to: try JSON(validating: Array(value.utf8)))
        return try #require(changed).description
    }

    @Test func `no door takes an alert without text`() async throws {
        let doors = try Write.all.filter {
            try Self.schema($0.operation).members.contains("alert")
        }
        .map(\.operation)
        #expect(doors.count >= 4)
        let empty = [
            "{}", #"{"sound":"default"}"#, #"{"title":{"loc-args":["a"]}}"#, #"{"body":{}}"#,
        ]
        try await Self.walk { doors, write, body, method, path in
            let takesAlerts = try Self.schema(write.operation).members.contains("alert")
            for alert in takesAlerts ? empty : [] {
                let body = try Self.setting("alert", to: alert, in: body)
                for path in [path, Self.dryRun(path)] {
                    let answer = try await doors.call(method, path, body)
                    #expect(answer.text.contains("begin no card"), "\(path) \(body)")
                    // A line of a batch has its status in the answer's line.
                    #expect(
                        answer.status == 422 || answer.text.contains(#""status":422"#),
                        "\(path) \(body): \(answer.text)")
                }
            }
        }
    }

    @Test func `no door advises to leave a required member out`() async throws {
        try await Self.walk { doors, write, body, method, path in
            for name in try Self.schema(write.operation).required {
                let body = try Self.setting(name, to: "null", in: body)
                let answer = try await doors.call(method, Self.dryRun(path), body)
                #expect(answer.text.contains("must not be null"), "\(path) \(body): \(answer.text)")
                #expect(!answer.text.contains("leave it out"), "\(path) \(body): \(answer.text)")
            }
        }
    }
}
