import Testing

@testable import TomboloJSON

@Suite struct JSONPointerTests {
    /// RFC 6901 section 5.
    private static let example = #"""
        {"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6,
         " ": 7, "m~n": 8}
        """#

    @Test(arguments: [
        ("/foo", #"["bar", "baz"]"#), ("/foo/0", #""bar""#), ("/", "0"), ("/a~1b", "1"),
        ("/c%d", "2"),
        ("/e^f", "3"), ("/g|h", "4"), ("/i\\j", "5"), ("/k\"l", "6"), ("/ ", "7"), ("/m~0n", "8"),
    ])
    func `the examples of RFC 6901 lead where it says`(_ text: String, _ value: String) throws {
        let pointer = try #require(JSONPointer(text))
        #expect(try document(Self.example).root.at(pointer)?.json.description == value)
        #expect(pointer.description == text)
    }

    @Test func `the empty pointer is the whole value`() throws {
        let root = try document(Self.example).root
        #expect(try root.at(#require(JSONPointer("")))?.count == root.count)
    }

    @Test(arguments: [
        "/foo/2", "/foo/-", "/foo/01", "/foo/-1", "/foo/+1", "/foo/", "/foo/0/x", "/nothing",
        "/a/b", "//",
        "/foo/99999999999999999999", "/foo/1e0",
    ])
    func `a pointer to nothing finds nothing`(_ text: String) throws {
        #expect(try document(Self.example).root.at(#require(JSONPointer(text))) == nil)
    }

    @Test(arguments: ["foo", "#/foo", " /foo", "/~", "/~2", "/a~", "/~~0"])
    func `what is no pointer is refused`(_ text: String) {
        #expect(JSONPointer(text) == nil)
    }

    @Test func `tilde and slash are unescaped once, in the right order`() throws {
        #expect(JSONPointer("/~01/~10/~0~1")?.tokens == ["~1", "/0", "~/"])
        #expect(
            JSONPointer("")?.appending("a/b").appending("~").appending(3).description
                == "/a~1b/~0/3")
        #expect(JSONPointer("/a//")?.tokens == ["a", "", ""])
    }
}
