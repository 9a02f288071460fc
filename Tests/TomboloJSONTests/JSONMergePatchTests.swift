import Testing

@testable import TomboloJSON

@Suite struct JSONMergePatchTests {
    /// RFC 7396 appendix A: original, patch, result.
    static let examples = [
        (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
        (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
        (#"{"a":"b"}"#, #"{"a":null}"#, #"{}"#),
        (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
        (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
        (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
        (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
        (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
        (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
        (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#),
        (#"{"a":"foo"}"#, "null", "null"),
        (#"{"a":"foo"}"#, #""bar""#, #""bar""#),
        (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#),
        (#"[1,2]"#, #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
        (#"{}"#, #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
    ]

    @Test(arguments: examples)
    func `the examples of RFC 7396 give what it says`(
        _ original: String, _ patch: String, _ result: String
    ) throws {
        #expect(try json(original).mergePatched(with: json(patch)).description == result)
    }

    /// Original, patch, result.
    static let faithful = [
        ("{ \"b\" : 1.50 , \"a\" : 2e0 }", #"{"c":3}"#, "{ \"b\" : 1.50 , \"a\" : 2e0,\"c\":3 }"),
        ("{ \"b\" : 1.50 , \"a\" : 2e0 }", #"{"a":7.0}"#, "{ \"b\" : 1.50 , \"a\" : 7.0 }"),
        ("{ \"b\" : 1 , \"a\" : 2 ,\n\"c\":3 }", #"{"b":null}"#, "{ \"a\" : 2 ,\n\"c\":3 }"),
        ("{ \"b\" : 1 , \"a\" : 2 ,\n\"c\":3 }", #"{"a":null}"#, "{ \"b\" : 1 ,\n\"c\":3 }"),
        ("{ \"b\" : 1 , \"a\" : 2 ,\n\"c\":3 }", #"{"c":null}"#, "{ \"b\" : 1 , \"a\" : 2 }"),
        ("{ \"b\" : 1 , \"a\" : 2 }", #"{"a":null,"b":null,"c":0}"#, "{\"c\":0 }"),
        (#"{"\u0061":1,"x":{"y":[1, 2]}}"#, #"{"a":2}"#, #"{"\u0061":2,"x":{"y":[1, 2]}}"#),
        (
            #"{"x":1}"#, #"{"\u0061" : { "n" : null , "m":[ null ] }}"#,
            #"{"x":1,"\u0061":{ "m":[ null ] }}"#
        ),
        (#"{"x":{"k":1}}"#, #"{"x":{}}"#, #"{"x":{"k":1}}"#),
        (#"{"z":1,"y":2}"#, #"{"y":3,"n":4,"m":5,"z":6}"#, #"{"z":6,"y":3,"n":4,"m":5}"#),
    ]

    @Test(arguments: faithful)
    func `what the patch does not name keeps its bytes and order`(
        _ original: String, _ patch: String, _ result: String
    ) throws {
        #expect(try json(original).mergePatched(with: json(patch)).description == result)
    }

    @Test func `a large patch finds its members as a small one does`() throws {
        for count in [16, 17, 300] {
            let target = (0..<count).map { #""k\#($0)":\#($0)"# }.joined(separator: ",")
            let patch = (0..<count).reversed().map { #""\u006b\#($0)":\#(-$0)"# }.joined(
                separator: ",")
            let merged = try json("{\(target)}").mergePatched(with: json("{\"new\":1,\(patch)}"))
            let expected = (0..<count).map { #""k\#($0)":\#(-$0)"# }.joined(separator: ",")
            #expect(merged.description == "{\(expected),\"new\":1}")
        }
    }

    @Test func `setting replaces, adds, and leaves every other byte`() throws {
        let value = try json(#"{ "a" : [1, {"b": 2 }] , "e" : { } }"#)
        let cases: [(String, String?)] = [
            ("", "9"), ("/a/1/b", #"{ "a" : [1, {"b": 9 }] , "e" : { } }"#),
            ("/a/0", #"{ "a" : [9, {"b": 2 }] , "e" : { } }"#),
            ("/a/1/c", #"{ "a" : [1, {"b": 2,"c":9 }] , "e" : { } }"#),
            ("/e/\"", #"{ "a" : [1, {"b": 2 }] , "e" : {"\"":9 } }"#),
            ("/n", #"{ "a" : [1, {"b": 2 }] , "e" : { },"n":9 }"#),
            ("/a/2", nil), ("/a/-", nil), ("/x/y", nil), ("/a/0/y", nil),
        ]
        for (pointer, expected) in cases {
            let result = try value.setting(#require(JSONPointer(pointer)), to: json("9"))
            #expect(result?.description == expected, "at \(pointer)")
        }
    }
}
