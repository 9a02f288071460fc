import Testing

@testable import TomboloProgram

@Suite struct PathTextTests {
    @Test func `a segment keeps unreserved characters and escapes the rest`() {
        #expect(PathText.escaped("cat-7.a_b~C") == "cat-7.a_b~C")
        #expect(PathText.escaped("a/b?c d%é\n") == "a%2Fb%3Fc%20d%25%C3%A9%0A")
    }

    @Test func `a query holds the parameters that have a value`() {
        #expect(
            PathText.query("/v1/log", [("a", nil), ("b", "1&2"), ("c", "")]) == "/v1/log?b=1%262&c="
        )
        #expect(PathText.query("/p?x=1", [("y", "2")]) == "/p?x=1&y=2")
        #expect(PathText.query("/p", []) == "/p")
    }
}
