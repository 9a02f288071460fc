import Testing

@testable import TomboloJSON

@Suite struct JSONWriterTests {
    @Test func `commas go where they belong`() throws {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("s", "x")
        writer.member("i", -7)
        writer.member("u", UInt64.max)
        writer.member("d", 0.5)
        writer.member("b", true)
        writer.member("j", try json("{ }"))
        writer.name("a")
        writer.beginArray()
        writer.null()
        writer.beginArray()
        writer.endArray()
        writer.beginObject()
        writer.endObject()
        writer.bool(false)
        writer.raw(try document("[ 1.0 ]").root.raw)
        writer.endArray()
        writer.member("z", 1)
        writer.endObject()
        #expect(
            writer.json.description
                == #"{"s":"x","i":-7,"u":18446744073709551615,"d":0.5,"b":true,"j":{ },"#
                + #""a":[null,[],{},false,[ 1.0 ]],"z":1}"#)
    }

    @Test(arguments: [
        ("{}", "{}"), ("{ \n}", "{}"), (#"{"b":[1, 2]}"#, #"{"b":[1, 2]}"#),
        ("{ \"b\" : {}\t}", "{ \"b\" : {}\t}"),
    ])
    func `the members of an object go among others as they are`(
        _ text: String, _ alone: String
    ) throws {
        for (before, after) in [(false, false), (true, false), (false, true), (true, true)] {
            var writer = JSONWriter()
            writer.beginObject()
            if before { writer.member("a", 1) }
            writer.members(of: try json(text))
            if after { writer.member("z", 2) }
            writer.endObject()
            let inner = String(alone.dropFirst().dropLast())
            let parts = [before ? #""a":1"# : "", inner, after ? #""z":2"# : ""]
            let expected = parts.filter { !$0.isEmpty }.joined(separator: ",")
            #expect(writer.json.description == "{\(expected)}")
            _ = try document(writer.json.description)
        }
    }

    @Test func `a string is escaped no more than it must be`() throws {
        var writer = JSONWriter()
        let value = "a/b\"\\\u{8}\u{C}\n\r\t\u{0}\u{1F}\u{7F}é\u{2028}😀"
        writer.string(value)
        #expect(
            writer.json.description
                == #""a/b\"\\\b\f\n\r\t\u0000\u001f"# + "\u{7F}é\u{2028}😀\"")
        #expect(writer.json.document.root.string == value)
    }

    @Test(
        arguments: [
            0, -0.0, 1, 0.1, 1.5, 1e16, 1e21, 1e-7, .leastNonzeroMagnitude,
            .greatestFiniteMagnitude, -.pi, 1.0 / 3,
        ] as [Double])
    func `a double reads back as itself`(_ value: Double) throws {
        var writer = JSONWriter()
        writer.double(value)
        let double = try #require(writer.json.document.root.double)
        #expect(double.bitPattern == value.bitPattern)
    }
}
