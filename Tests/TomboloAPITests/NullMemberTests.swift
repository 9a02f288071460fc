import TestSupport
import Testing
import TomboloCore
import TomboloJSON

/// What `null` is to a request: a fault, but where the schema says that the member takes it.
@Suite struct NullMemberTests {
    /// Every place of an object's member, in objects inside it too.
    private static func places(in view: JSONView, at tokens: [String] = []) -> [[String]] {
        guard view.kind == .object else { return [] }
        return view.members.flatMap { name, value in
            [tokens + [name]] + places(in: value, at: tokens + [name])
        }
    }

    @Test func `a null member is refused by its reader exactly where the schema refuses it`()
        throws
    {
        var refused = 0
        var taken: [String] = []
        for name in try ProtocolFiles.names(in: "examples/requests") {
            let schema = String(name.prefix { $0 != "." })
            guard !RequestReading.readElsewhere.contains(schema) else { continue }
            let example = try ProtocolFiles.json("examples/requests/\(name).json").json
            for tokens in Self.places(in: example.document.root)
            // A type's `state` is a JSON Schema, which has its own rules.
            where schema != "type" || tokens.count == 1 || tokens[0] != "state" {
                let pointer = JSONPointer(tokens: tokens)
                let changed = try #require(example.setting(pointer, to: .null))
                let view = changed.document.root
                let isTaken = try SchemaCheck.faults(of: view, schema: schema).isEmpty
                if isTaken { taken.append("\(schema)\(pointer)") } else { refused += 1 }
                let reads = (try? RequestReading.read(view, as: schema)) != nil  // that it does
                #expect(reads == isTaken, "\(name) with null at \(pointer)")
            }
        }
        #expect(refused > 100)
        #expect(taken.contains("type/id_at"))
    }

    @Test func `an event that an older relay took with a null member is still read from the log`()
        throws
    {
        let body = JSON(
            unchecked: Array(
                #"{"type":"Runner","state":{},"alert":null,"audience":{"user":"u","device":null}}"#
                    .utf8))
        #expect(throws: FieldErrors.self) {
            try Command.Content(kind: .start, body.document.root)
        }
        guard
            case .start(let start) = try Command.Content(
                kind: .start, body.document.root, lenient: true)
        else {
            Issue.record("it is no start")
            return
        }
        #expect(start.audience == .user("u"))
    }
}
