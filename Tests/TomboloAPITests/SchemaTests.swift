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
}
