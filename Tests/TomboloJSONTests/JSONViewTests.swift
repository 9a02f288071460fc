import Testing

@testable import TomboloJSON

@Suite struct JSONViewTests {
    private let source = """
        { "name" : "caf\\u00e9 \\"x\\"",\n  "n":[1, 2.50 ,{}], "t":true,"f":false,"z":null, "o":{"k":"v"} }
        """

    @Test func `a member is found by name, whole and in its own bytes`() throws {
        let root = try document(source).root
        #expect(root.kind == .object)
        #expect(root.count == 6)
        #expect(root["name"]?.string == "café \"x\"")
        #expect(
            root["n"]?.elements.map { String(decoding: $0.raw, as: UTF8.self) } == [
                "1", "2.50", "{}",
            ])
        #expect(root["t"]?.bool == true)
        #expect(root["f"]?.bool == false)
        #expect(root["z"]?.isNull == true)
        #expect(root["o"]?.json.description == #"{"k":"v"}"#)
        #expect(root["nam"] == nil)
        #expect(root["names"] == nil)
        #expect(root.members.map(\.name) == ["name", "n", "t", "f", "z", "o"])
        #expect(root.members.map(\.value.kind) == [.string, .array, .bool, .bool, .null, .object])
        #expect(root.raw.count == text(source).count)
    }

    @Test func `asking for another kind gives nothing`() throws {
        let root = try document(source).root
        let views = [root, root["name"], root["n"], root["t"], root["z"]].compactMap(\.self)
        #expect(views.count == 5)
        for view in views {
            #expect((view.string != nil) == (view.kind == .string))
            #expect((view.bool != nil) == (view.kind == .bool))
            #expect(view.isNull == (view.kind == .null))
            #expect(view.integer == nil)
            #expect(view.double == nil)
            #expect((view["o"] != nil) == (view.kind == .object))
            #expect(Array(view.members).count == (view.kind == .object ? 6 : 0))
            #expect(Array(view.elements).count == (view.kind == .array ? 3 : 0))
        }
    }

    @Test func `a value says where it stands`() throws {
        let root = try document(source).root
        #expect(root.position == (1, 1))
        #expect(try #require(root["name"]).position == (1, 12))
        #expect(try #require(root["n"]).position == (2, 7))
    }

    @Test(arguments: [
        (#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{C}\n\r\t"),
        (#"\u0000\u001F\u00e9\u00E9"#, "\0\u{1F}éé"),
        (#"\ud83d\ude00\uD834\uDD1E"#, "😀𝄞"), (#"\ud800\udc00\udbff\udfff"#, "\u{10000}\u{10FFFF}"),
        (#"\uFFFF\ue000\ud7ff"#, "\u{FFFF}\u{E000}\u{D7FF}"), ("é€😀", "é€😀"), ("", ""),
    ])
    func `a string says what it means`(_ content: String, _ meaning: String) throws {
        #expect(try document("\"\(content)\"").root.string == meaning)
        #expect(try document("{\"\(content)\":1}").root[meaning]?.integer == 1)
    }

    /// Spelling, integer, double.
    static let numbers: [(String, Int64?, Double?)] = [
        ("0", 0, 0), ("-0", 0, -0.0), ("1", 1, 1), ("-1", -1, -1), ("1.0", 1, 1),
        ("1e3", 1000, 1000),
        ("1E+3", 1000, 1000), ("1000e-3", 1, 1), ("10.50e1", 105, 105), ("1.5", nil, 1.5),
        ("1e-1", nil, 0.1),
        ("0.0000", 0, 0), ("0e99999999999999999999", 0, 0), ("0.000e-5", 0, 0), ("100", 100, 100),
        ("9223372036854775807", .max, 0x1p63), ("9223372036854775808", nil, 0x1p63),
        ("-9223372036854775808", .min, -0x1p63), ("-9223372036854775809", nil, -0x1p63),
        ("9223372036854775807.000", .max, 0x1p63), ("9223372036854775807e0", .max, 0x1p63),
        ("922337203685477580700e-2", .max, 0x1p63), ("0.9223372036854775807e19", .max, 0x1p63),
        ("18446744073709551616", nil, 0x1p64), ("1e18", 1_000_000_000_000_000_000, 1e18),
        ("1e19", nil, 1e19),
        ("123456789012345678901234567890e-20", nil, 1234567890.12345678901234567890),
        ("1e400", nil, nil), ("-1e400", nil, nil), ("1e-400", nil, 0),
        ("5e-324", nil, .leastNonzeroMagnitude),
        ("1.7976931348623157e308", nil, .greatestFiniteMagnitude), ("0.1", nil, 0.1),
        ("1e99999999999999999999", nil, nil), ("1e-99999999999999999999", nil, 0),
        ("9007199254740993", 9_007_199_254_740_993, 9_007_199_254_740_992),
    ]

    @Test(arguments: numbers)
    func `a number is exact as an integer and nearest as a double`(
        _ spelling: String, _ integer: Int64?, _ double: Double?
    ) throws {
        let view = try document("[\(spelling)]").root.elements.first { _ in true }
        #expect(view?.integer == integer)
        #expect(view?.double == double)
        #expect(view?.json.description == spelling)
    }

    @Test func `zeros without end cost nothing in exactness`() throws {
        let zeros = String(repeating: "0", count: 5_000)
        #expect(try document("1\(zeros)e-5000").root.integer == 1)
        #expect(try document("0.\(zeros)1e5001").root.integer == 1)
        #expect(try document("1.\(zeros)").root.integer == 1)
        #expect(try document("1.\(zeros)1").root.integer == nil)
    }

    @Test func `an outline has the places of an object's members in the value around it`()
        throws
    {
        let list = try document(#" [ {"a": [1, 2], "b\n": "x" }, 7 ] "#).root
        let object = try #require(list.elements.first { _ in true })
        let outline = JSONOutline(of: object, in: list)
        #expect(outline["a"].map { list.json.value(at: $0).description } == "[1, 2]")
        #expect(outline["b\n"].map { list.json.value(at: $0).description } == "\"x\"")
        #expect(outline["c"] == nil)
        #expect(JSONOutline(of: object, in: object) != outline)
        #expect(JSONOutline(of: list, in: list).members.isEmpty)
    }

    @Test func `a value that stands alone has no space around it`() throws {
        #expect(try json(" \n{ \"a\": 1 }\t").description == "{ \"a\": 1 }")
        #expect(throws: JSONError.self) { try json("{} {}") }
        #expect(JSON.emptyObject.document.root.count == 0)
        #expect(JSON.null.document.root.isNull)
        #expect(try json("1.0") != json("1"))
    }
}
