import TestSupport
import Testing
import TomboloAPI
import TomboloCore
import TomboloJSON

@Suite struct RequestExampleTests {
    private static func examples(_ folder: String) throws -> [(name: String, schema: String)] {
        try ProtocolFiles.names(in: "examples/\(folder)").map { name in
            (name, String(name.prefix { $0 != "." }))
        }
    }

    @Test func `every example of a request is read, and is what its schema says`() throws {
        let examples = try Self.examples("requests")
        #expect(Set(examples.map(\.schema)).count == 23)
        for (name, schema) in examples {
            let view = try ProtocolFiles.json("examples/requests/\(name).json")
            #expect(try SchemaCheck.faults(of: view, schema: schema) == [], "\(name)")
            guard !RequestReading.readElsewhere.contains(schema) else { continue }
            #expect(throws: Never.self, "\(name)") { try RequestReading.read(view, as: schema) }
        }
    }

    @Test func `what is refused is refused by reader and schema alike, at the same place`() throws {
        for (name, schema) in try Self.examples("refused") {
            let example = try ProtocolFiles.json("examples/refused/\(name).json")
            let body = try #require(example["body"])
            #expect(try SchemaCheck.faults(of: body, schema: schema) != [], "\(name)")
            guard !RequestReading.readElsewhere.contains(schema) else { continue }
            var wanted = example["pointers"]?.elements.compactMap(\.string) ?? []
            let faults = #expect(throws: (any Error).self, "\(name)") {
                try RequestReading.read(body, as: schema)
            }
            let errors =
                (faults as? FieldErrors)?.errors
                ?? (faults as? EventLine.Fault)?.problem.errors ?? []
            // What is there under a name that is nearly its own is not missing too.
            wanted.removeAll { pointer in
                let name = pointer.split(separator: "/").last ?? ""
                return errors.contains { $0.message.hasSuffix("did you mean \"\(name)\"?") }
            }
            #expect(Set(errors.map(\.pointer)) == Set(wanted), "\(name)")
        }
    }

    @Test func `the shortest spelling of an example is its value, and never longer`() throws {
        for (name, _) in try Self.examples("requests") {
            let sent = try ProtocolFiles.json("examples/requests/\(name).json").json
            let short = JSON(unchecked: JSON.shortest(of: sent.bytes) ?? sent.bytes)
            #expect(short.isSameValue(as: sent), "\(name)")
            for member in ["state", "replace", "attributes", "alert", "content"] {
                guard let before = sent.document.root[member] else { continue }
                let after = try #require(short.document.root[member])
                #expect(after.raw.count <= before.raw.count, "\(name) \(member)")
                #expect(JSON.shortest(of: Array(after.raw)) == nil, "\(name) \(member)")
            }
        }
    }

    @Test func `a line's id is told even where the line is refused`() {
        let fault = #expect(throws: EventLine.Fault.self) {
            try EventLine(Array(#"{"id":"e9","activity":"a","do":"begin"}"#.utf8))
        }
        #expect(fault?.id == "e9")
    }

    @Test(arguments: [(1, true), (255, true), (256, false), (0, false)])
    func `an id has 1 to 255 bytes`(length: Int, isTaken: Bool) {
        let id = String(repeating: "i", count: length)
        let line = Array(#"{"id":"\#(id)","activity":"a","do":"end"}"#.utf8)
        let read = try? EventLine(line)  // which fault it is, is told elsewhere
        #expect((read != nil) == isTaken)
    }
}
