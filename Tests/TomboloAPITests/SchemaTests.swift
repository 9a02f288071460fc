import Testing
import TomboloJSON

@Suite struct SchemaTests {
    /// Keys in order and values, with references as the schemas' own files write them.
    private static func normalized(_ view: JSONView) -> String {
        switch view.kind {
        case .object:
            let members = view.members.compactMap { name, value -> String? in
                if ["$schema", "$id"].contains(name) { return nil }
                guard name == "$ref", let target = value.string else {
                    return "\(name):\(normalized(value))"
                }
                let file = target.split(separator: "/").last.map(String.init) ?? target
                return "$ref:" + (file.hasSuffix(".json") ? String(file.dropLast(5)) : file)
            }
            return "{" + members.joined(separator: ",") + "}"
        case .array: return "[" + view.elements.map(normalized).joined(separator: ",") + "]"
        case .string, .number, .bool, .null: return String(decoding: view.raw, as: UTF8.self)
        }
    }

    @Test func `the schemas in the description of the API are those of the files`() throws {
        let description = try ProtocolFiles.json("openapi.json")
        let components = try #require(description["components"]?["schemas"])
        let names = try ProtocolFiles.names(in: "schemas")
        #expect(components.members.map(\.name).sorted() == names)
        for name in names {
            let file = try ProtocolFiles.json("schemas/\(name).json")
            #expect(file["$id"]?.string == "\(name).json")
            let component = try #require(components[name])
            var own = Self.normalized(file)
            // A file has its name as title; in the description the name is the key.
            own = own.replacing("{title:\"\(name)\",", with: "{")
            #expect(own == Self.normalized(component), "\(name)")
        }
    }
}
