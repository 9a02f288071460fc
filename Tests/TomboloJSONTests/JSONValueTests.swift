import Testing

@testable import TomboloJSON

/// One value in several spellings, and values that only look alike.
@Suite struct JSONValueTests {
    /// Spellings of one value, each row another value than all others.
    private static let values: [[String]] = [
        ["0", "-0", "0.0", "-0.000", "0e5", "0E-400", "0e99999999999999999999"],
        ["1", "1.0", "1e0", "10e-1", "0.1e1", "1.000E+0", "1000000000000000000000e-21"],
        ["-1", "-1.0", "-10E-1"], ["10", "1e1", "1.0e1"], ["12.5", "12.50", "125e-1", "0.125e2"],
        ["9007199254740992", "9007199254740992.0", "9.007199254740992e15"],
        ["9007199254740993", "9007199254740993.00", "9.007199254740993E15"],
        ["123456789012345678901234567890", "12345678901234567890123456789e1"],
        ["123456789012345678901234567891"], ["123456789012345678"], ["1234567890123456780"],
        ["0.1"], ["1e-300", "0.1e-299"], ["1e300"],
        [#""""#], [#""0""#], [#""1""#], [#""1.0""#], [#"" ""#, #""\u0020""#],
        [#""Größe""#, #""Gr\u00f6\u00dfe""#, #""Gr\u00F6\u00dFe""#], [#""Gro\u0308\u00dfe""#],
        [#""a/b""#, #""a\/b""#], [#""a\nb""#, #""a\u000ab""#, #""a\u000Ab""#], [#""a\\nb""#],
        [#""\u0000""#], [#""a\u0000""#], [#""\"\\""#, #""\u0022\u005c""#],
        [#""😀""#, #""\ud83d\ude00""#, #""\uD83D\uDE00""#],
        ["true", " true\n"], ["false"], ["null"], ["[]", "[ ]"], ["{}", "{ }"], ["[[]]"], ["[{}]"],
        ["[1,2]", " [ 1.0 , 2 ] "], ["[2,1]"], ["[12]"], ["[1,2,2]"], [#"["1,2"]"#], ["[null]"],
        ["[0]"], ["[false]"],
        [#"{"a":1,"b":2}"#, #"{"b":2.0,"a":1}"#, #"{"\u0062":2,"a":10e-1}"#], [#"{"a":2,"b":1}"#],
        [#"{"a":1}"#], [#"{"b":2}"#], [#"{"a":{"b":2}}"#], [#"{"a":{"b":2},"b":2}"#],
        [#"{"a":[1,{"x":1,"y":[]}]}"#, #"{"a":[1.0,{"y":[],"x":1}]}"#],
        [#"{"":0}"#, #"{"":-0.0}"#],
    ]

    @Test func `spellings of one value have one hash and one canonical text, others another`()
        throws
    {
        let rows = try Self.values.map { try $0.map { try json($0) } }
        for row in rows {
            for (one, other) in zip(row, row.dropFirst()) {
                #expect(one.isSameValue(as: other), "\(one) is \(other)")
                #expect(one.valueHash == other.valueHash, "\(one) is \(other)")
            }
        }
        let all = rows.flatMap(\.self)
        for (place, row) in rows.enumerated() {
            for other in rows[(place + 1)...] {
                let (one, another) = (try #require(row.first), try #require(other.first))
                #expect(!one.isSameValue(as: another), "\(one) is not \(another)")
                #expect(one.valueHash != another.valueHash, "\(one) is not \(another)")
            }
        }
        #expect(Set(all.map(\.valueHash)).count == rows.count)
        #expect(Set(all.map(\.document.root.canonical)).count == rows.count)
    }

    @Test func `a value inside another one has the hash that it has alone`() throws {
        let whole = try json(#"{"a": {"x": [1.0, "\u00fc"]} , "b": 3}"#)
        let part = try json(#"{"x":[1,"ü"]}"#)
        #expect(whole.document.root["a"]?.valueHash == part.valueHash)
        #expect(whole.document.root["b"]?.valueHash == (try json("3.0")).valueHash)
    }

    @Test func `the canonical text is one of the spellings`() throws {
        for text in Self.values.flatMap(\.self) {
            let value = try json(text)
            let canonical = try JSON(validating: value.document.root.canonical)
            #expect(canonical.isSameValue(as: value), "\(text): \(canonical)")
            #expect(canonical.document.root.canonical == canonical.bytes)
        }
    }

    /// Heads in a log have digests of these hashes, so a change would make each start another one.
    @Test(
        arguments: [
            (#"0"#, 0xbcb16335422f233b),
            (#"-1.50"#, 0x7c18f47993057da4),
            (#"123456789012345678901"#, 0x611400cc23462f37),
            (#"0.05e-7"#, 0x700b97fc0fdc912d),
            (#"12345678901234567"#, 0xf738f6dbaf2866a1),
            (#"123456789012345678"#, 0x11bcdb045f8e236),
            (#""a\/b\n""#, 0xf85f12cb86b93f4b),
            (#""Größe 12345678""#, 0x765a3f717d2186cf),
            (#"[true,false,null,[],{}]"#, 0x924f9d2d9917a833),
            (#"{"a":[1,20.0,-3e5],"b":{"c":"\u00e9"}}"#, 0xd27f48654fd52e62),
        ] as [(String, UInt64)])
    func `the hash of a value is the same in each version`(text: String, hash: UInt64) throws {
        #expect(try json(text).valueHash == hash)
    }

    /// The first spelling has at most 17 digits, and the second always more.
    @Test func `short and long spellings of a number have one hash`() throws {
        for whole in ["0", "-0", "7", "-70", "100200"] {
            for fraction in ["0", "5", "05", "50", "00120", "12345678901"] {
                for exponent in ["", "e0", "E+2", "e-7", "e300"] {
                    let short = "\(whole).\(fraction)\(exponent)"
                    let long = "\(whole).\(fraction)\(String(repeating: "0", count: 18))\(exponent)"
                    #expect(try json(short).valueHash == json(long).valueHash, "\(short)")
                }
            }
        }
    }

    @Test func `hashes of similar values are far apart`() throws {
        var hashes: Set<UInt64> = []
        for one in 0..<300 {
            for other in 0..<300 {
                hashes.insert(try json(#"{"a":\#(one),"b":[\#(other)]}"#).valueHash)
            }
        }
        #expect(hashes.count == 90_000)
    }

    /// A text and its shortest spelling; nil: it is that already.
    @Test(arguments: [
        ("{}", nil), (#"{"a":[1,2.50,"x y"],"b":null}"#, nil), (" 1\n", "1"),
        ("{ \"a\" : [ 1 , 2.50 ] ,\r\n\t\"b\" : null }\n", #"{"a":[1,2.50],"b":null}"#),
        (#"{"b":1e2, "a":1.0}"#, #"{"b":1e2,"a":1.0}"#),
        (#""Gr\u00f6\u00dfe""#, #""Größe""#), (#""\ud83d\ude00\/""#, #""😀/""#),
        (#""\u0022\u005C\u000a\u0000\u001f""#, #""\"\\\n\u0000\u001f""#), (#""\"\\\n\t""#, nil),
        (#""\u001F""#, nil), (#""\u007f\u2028""#, "\"\u{7f}\u{2028}\""),
        (#"{"\u0061 b":" c "}"#, #"{"a b":" c "}"#), (#"["\\u0041"]"#, nil),
        (#""\ue000\uD7FF""#, "\"\u{e000}\u{d7ff}\""),
    ])
    func `a text is written in its shortest spelling`(_ text: String, _ shortest: String?) throws {
        let short = JSON.shortest(of: Array(text.utf8))
        #expect(short.map { String(decoding: $0, as: UTF8.self) } == shortest)
        let value = try json(text)
        #expect(try JSON(validating: short ?? value.bytes).isSameValue(as: value))
        #expect(JSON.shortest(of: short ?? value.bytes) == nil)
    }

    @Test func `mutated spellings keep their value, and the shortest is never longer`() throws {
        var generator = SeededGenerator(seed: 54)
        for _ in 0..<2_000 {
            let text = try #require(Self.values.flatMap(\.self).randomElement(using: &generator))
            var spaced: [UInt8] = []
            var (inString, isEscaped) = (false, false)
            for byte in text.utf8 {
                if !inString, "[]{},:".utf8.contains(byte), Bool.random(using: &generator) {
                    spaced += " \n".utf8
                }
                spaced.append(byte)
                if byte == 0x22, !isEscaped { inString.toggle() }
                isEscaped = byte == 0x5c && !isEscaped
            }
            let value = try json(text)
            let mutated = try JSON(validating: spaced)
            #expect(mutated.isSameValue(as: value))
            #expect((JSON.shortest(of: spaced) ?? spaced).count <= spaced.count)
            let short = try JSONDocument(spaced).shortest
            let scanned = try JSONDocument(JSON.shortest(of: spaced) ?? spaced)
            #expect(short?.bytes ?? spaced == scanned.bytes)
            #expect(short.map { $0.tape == scanned.tape } ?? true)
        }
    }
}
