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
