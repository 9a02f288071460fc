import Testing

@testable import TomboloJSON

@Suite struct JSONGrammarTests {
    @Test(arguments: [
        "0", "-0", "10", "-1.5", "1e3", "1E+3", "1e-3", "0.0", "0e0",
        "123456789012345678901234567890",
        "true", "false", "null", "\"\"", "{}", "[]", " \t\r\n1 \t\r\n", "[ ]", "{ }", "[[],{}]",
        #"{"a":{"a":{"a":1}}}"#, #"{"a":1,"A":2,"":3}"#, #""\"\\\/\b\f\n\r\tA\uABCD""#,
        #""\ud83d\ude00""#, "\"\u{7F}\u{80}\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}\"",
        #"["NUL \u0000"]"#, "{\"\u{E9}\":1,\"e\u{301}\":2}",
    ])
    func `what RFC 8259 allows is accepted`(_ text: String) throws {
        #expect(fault(text) == nil)
    }

    @Test(arguments: seedTexts) func `the seeds of mutation are valid`(_ text: String) {
        #expect(fault(text) == nil)
    }

    /// Text, code, line, column.
    static let refusals: [(String, JSONError.Code, Int, Int)] = [
        ("", .unexpectedEnd, 1, 1), (" \n ", .unexpectedEnd, 2, 2), ("[1,", .unexpectedEnd, 1, 4),
        ("[1", .unexpectedEnd, 1, 3), ("{\"a\":", .unexpectedEnd, 1, 6),
        ("\"abc", .unexpectedEnd, 1, 5),
        ("{\"a\"", .unexpectedEnd, 1, 5), ("{", .unexpectedEnd, 1, 2),
        ("tru", .unexpectedEnd, 1, 4),
        ("\"a\\", .unexpectedEnd, 1, 4), ("\"\\u12", .unexpectedEnd, 1, 6),
        ("[1,]", .unexpectedByte, 1, 4), ("{\"a\":1,}", .unexpectedByte, 1, 8),
        ("[,1]", .unexpectedByte, 1, 2), ("[1 2]", .unexpectedByte, 1, 4),
        ("{a:1}", .unexpectedByte, 1, 2),
        ("{\"a\" 1}", .unexpectedByte, 1, 6), ("[1}", .unexpectedByte, 1, 3),
        ("{\"a\":1]", .unexpectedByte, 1, 7), ("'a'", .unexpectedByte, 1, 1),
        ("trUe", .unexpectedByte, 1, 3),
        ("NaN", .unexpectedByte, 1, 1), ("+1", .unexpectedByte, 1, 1),
        (".5", .unexpectedByte, 1, 1),
        ("[1, // one\n2]", .unexpectedByte, 1, 5), ("\u{FEFF}1", .unexpectedByte, 1, 1),
        ("{\n  \"ü\": 1,\n  \"😀\" 2\n}", .unexpectedByte, 3, 7), ("\u{A0}1", .unexpectedByte, 1, 1),
        ("\u{B}1", .unexpectedByte, 1, 1), ("]", .unexpectedByte, 1, 1),
        ("01", .invalidNumber, 1, 1), ("-", .invalidNumber, 1, 2), ("-01", .invalidNumber, 1, 1),
        ("1.", .invalidNumber, 1, 3), ("[1.e1]", .invalidNumber, 1, 4),
        ("1e", .invalidNumber, 1, 3),
        ("1e+", .invalidNumber, 1, 4), ("-a", .invalidNumber, 1, 2), ("00", .invalidNumber, 1, 1),
        ("\"\\x\"", .invalidEscape, 1, 2), ("\"\\u12g4\"", .invalidEscape, 1, 2),
        ("\"\\u+123\"", .invalidEscape, 1, 2), ("\"\\U0041\"", .invalidEscape, 1, 2),
        ("\"\\ud83d\"", .loneSurrogate, 1, 2), ("\"ab\\ude00\"", .loneSurrogate, 1, 4),
        ("\"\\ud83d\\u0041\"", .loneSurrogate, 1, 2), ("\"\\ud83d\\n\"", .loneSurrogate, 1, 2),
        ("\"\\ud83d\\ud83d\\ude00\"", .loneSurrogate, 1, 2),
        ("{\"a\":1,\"a\":2}", .duplicateKey, 1, 8),
        ("{\"a\":1,\"\\u0061\":2}", .duplicateKey, 1, 8),
        ("[{},\n{\"x\":1,\"y\":{\"z\":1,\n\"z\":2}}]", .duplicateKey, 3, 1),
        ("{\"\":1,\"\":2}", .duplicateKey, 1, 7),
        ("{\"\\n\":1,\"\\t\":2,\"\\n\":3}", .duplicateKey, 1, 16),
        ("{\"a/\":1,\"a\\/\":2}", .duplicateKey, 1, 9),
        ("[{\"\\n\":1,\"b\":2},{\"\\n\":1,\"c\":2,\"\\u000a\":3}]", .duplicateKey, 1, 31),
        ("1 2", .trailingBytes, 1, 3), ("{}}", .trailingBytes, 1, 3),
        ("[]\n\n,", .trailingBytes, 3, 1),
        ("0x10", .trailingBytes, 1, 2), ("\"a\nb\"", .controlCharacter, 1, 3),
        ("\"\0\"", .controlCharacter, 1, 2), ("\"\t\"", .controlCharacter, 1, 2),
        ("\"\u{1F}\"", .controlCharacter, 1, 2),
    ]

    @Test(arguments: refusals)
    func `what it forbids is refused at its place`(
        _ text: String, _ code: JSONError.Code, _ line: Int, _ column: Int
    ) throws {
        let error = try #require(fault(text))
        #expect(error.code == code)
        #expect("\(error.line):\(error.column)" == "\(line):\(column)")
        #expect(error.message.count > 15)
    }

    /// RFC 3629: overlong forms, surrogates, beyond U+10FFFF, stray and missing continuation bytes.
    @Test(
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x9F, 0xBF],
            [0xE2, 0x82],
            [0xE2, 0x28, 0xA1], [0xED, 0xA0, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF],
        ] as [[UInt8]])
    func `bytes that are not UTF-8 are refused`(_ bytes: [UInt8]) throws {
        for padding in [0, 1, 7, 8, 9] {
            let head = text("\"" + String(repeating: "é", count: padding))
            let error = try #require(fault(head + bytes + text("\"")))
            #expect(error.code == .invalidUTF8)
            #expect(error.offset == head.count)
            #expect(error.column == padding + 2)
        }
    }

    @Test func `a special byte is found at every place of a word`() throws {
        for length in 0..<40 {
            let plain = String(repeating: "x", count: length)
            #expect(
                try document("[\"\(plain)\"]").root.at(#require(JSONPointer("/0")))?.string == plain
            )
            #expect(fault("\"\(plain)\n\"")?.offset == length + 1)
            #expect(fault("\"\(plain)\u{1F}\u{1}\"")?.offset == length + 1)
            #expect(fault("\"\(plain)")?.code == .unexpectedEnd)
            #expect(try document("\"\(plain)\\n!#[]^\"").root.string == plain + "\n!#[]^")
        }
    }

    @Test func `a name that comes twice is found among few names and many`() throws {
        for count in [2, 3, 15, 16, 17, 18, 100] {
            let names = (0..<count).map { "\"name-\($0)\":\($0)" }
            #expect(fault("{\(names.joined(separator: ","))}") == nil)
            for place in [0, count / 2, count - 1] {
                let head = "{" + names.joined(separator: ",") + ","
                let escaped = "\"\\u006eame-\(place)\":0}"
                let error = try #require(fault(head + "\"name-\(place)\":0}"))
                #expect(error.code == .duplicateKey)
                #expect(error.offset == head.utf8.count)
                #expect(error.message.contains("\"name-\(place)\""))
                #expect(fault(head + escaped)?.offset == head.utf8.count)
            }
        }
    }

    @Test func `names are compared as bytes, not by Unicode equivalence`() throws {
        let root = try document("{\"\u{E9}\":1,\"e\u{301}\":2}").root
        #expect(root["\u{E9}"]?.integer == 1)
        #expect(root["e\u{301}"]?.integer == 2)
    }

    @Test func `a message names the remedy`() throws {
        #expect(try #require(fault("{\"a\":1,}")).message.contains("remove the comma"))
        #expect(try #require(fault("[1, // x")).message.contains("comments are not allowed"))
        #expect(try #require(fault("['a']")).message.contains("double quotes"))
        #expect(try #require(fault("[1")).message.contains("cut off"))
        #expect(try #require(fault("\u{FEFF}{}")).message.contains("byte order mark"))
        #expect(fault("\n  x")?.description == "line 2, column 3: expected a value, found \"x\"")
    }
}
