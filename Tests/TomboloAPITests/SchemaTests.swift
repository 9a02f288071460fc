import TestSupport
import Testing
import TomboloJSON

@Suite struct SchemaTests {
    @Test func `the description of the API refers to each schema's file`() throws {
        let description = try ProtocolFiles.json("openapi.json")
        let components = try #require(description["components"]?["schemas"])
        let names = try ProtocolFiles.names(in: "schemas")
        #expect(components.members.map(\.name).sorted() == names)
        for name in names {
            #expect(components[name]?["$ref"]?.string == "schemas/\(name).json")
            let file = try ProtocolFiles.json("schemas/\(name).json")
            #expect(file["$id"]?.string == "\(name).json")
        }
    }
    @Test func `codes that several schemas list are the same in each`() throws {
        var lists: [String: Set<[String]>] = [:]
        func look(_ view: JSONView) {
            if let title = view["title"]?.string, let codes = view["enum"] {
                lists[title, default: []].insert(codes.elements.compactMap(\.string))
            }
            for (_, member) in view.members { look(member) }
            for element in view.elements { look(element) }
        }
        for name in try ProtocolFiles.names(in: "schemas") {
            look(try ProtocolFiles.json("schemas/\(name).json"))
        }
        #expect(lists.keys.sorted() == ["apple_reason", "code", "relay_reason"])
        #expect(lists.values.allSatisfy { $0.count == 1 })
    }
}
