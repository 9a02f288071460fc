import Testing

@testable import TomboloJSON

@Suite struct JSONCommentTests {
    private static let configuration = """
        { // the relay
          "port": /* why not */ 8080, /**/
          // "host": "x"
          "path": "//not a comment", "list": [ /*a*/ 1 /* * / ** */, 2 // two ü
          ] /**/
        } // end
        """

    @Test func `comments count as space where they are allowed`() throws {
        let root = try document(Self.configuration, comments: true).root
        #expect(root["port"]?.integer == 8080)
        #expect(root["path"]?.string == "//not a comment")
        #expect(root["list"]?.elements.map(\.integer) == [1, 2])
        #expect(root.count == 3)
    }

    @Test func `they are refused where they are not`() {
        #expect(fault(Self.configuration)?.code == .unexpectedByte)
        #expect(fault("1 /**/")?.code == .trailingBytes)
    }

    @Test func `a value taken out of a text with comments is plain JSON`() throws {
        let copy = try document(Self.configuration, comments: true).root.json
        #expect(copy.description == #"{"port":8080,"path":"//not a comment","list":[1,2]}"#)
    }

    @Test func `a comment must end and be UTF-8, and a trailing comma stays a fault`() {
        #expect(fault("1 /* *", comments: true)?.code == .unexpectedEnd)
        #expect(fault("1 /", comments: true)?.code == .unexpectedEnd)
        #expect(fault("1 /x", comments: true)?.code == .unexpectedByte)
        #expect(fault("/*/", comments: true)?.code == .unexpectedEnd)
        #expect(fault("1 //", comments: true) == nil)
        #expect(fault(text("1 // ") + [0xFF], comments: true)?.code == .invalidUTF8)
        #expect(fault("[1, /* no more */ ]", comments: true)?.code == .unexpectedByte)
    }
}
