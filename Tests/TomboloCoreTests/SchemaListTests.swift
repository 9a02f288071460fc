import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// Long lists of a schema: each name and value once, and found at no cost.
@Suite struct SchemaListTests {
    private static func schema(_ text: String, isStored: Bool = false) throws -> StateSchema {
        try StateSchema(reading: Rig.json(text), at: "", isStored: isStored)
    }

    private static func faults(_ schema: String, _ state: String) throws -> [String] {
        try Self.schema(schema).faults(in: Rig.json(state), at: "").map(\.pointer)
    }

    @Test(arguments: [
        (#"{"required":["a","b","a"]}"#, "/required"), (#"{"enum":[1,2,1]}"#, "/enum"),
        (#"{"properties":{"c":{"enum":["x","x"]}}}"#, "/properties/c/enum"),
    ])
    func `a repeat is refused at the registration, and loads where it is stored`(
        text: String, place: String
    ) throws {
        #expect(Rig.faults { try StateSchema(reading: Rig.json(text), at: "") } == [place])
        _ = try Self.schema(text, isStored: true)
    }

    @Test func `missing members are named in the schema's order, and present ones are not`() throws
    {
        let schema = #"{"required":["d","a","c","b"],"properties":{"a":{"type":"integer"}}}"#
        #expect(try Self.faults(schema, #"{"c":1}"#) == ["/d", "/a", "/b"])
        #expect(try Self.faults(schema, #"{"a":1,"b":2,"c":3,"d":4}"#).isEmpty)
        #expect(try Self.faults(schema, #"{"a":"x","b":2,"c":3,"d":4}"#) == ["/a"])
        #expect(try Self.faults(#"{"enum":["a",1]}"#, "1").isEmpty)
        #expect(try Self.faults(#"{"enum":["a",1]}"#, "2") == [""])
    }
}
