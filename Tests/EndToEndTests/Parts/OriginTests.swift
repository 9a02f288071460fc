import Testing

@testable import TomboloProgram

@Suite struct OriginTests {
    @Test(arguments: [
        ("http://127.0.0.1:8780", "http://127.0.0.1:8780"),
        ("https://relay.example", "https://relay.example:443"),
        ("http://relay.example/", "http://relay.example:80"),
        ("https://[::1]:9", "https://[::1]:9"), ("http://[::1]", "http://[::1]:80"),
    ])
    func `an origin is scheme, host and port`(_ text: String, _ expected: String) {
        #expect(Origin(text)?.description == expected)
    }

    @Test(arguments: [
        "", "relay", "ftp://relay", "http://", "http://relay/v1", "http://user@relay", "http://a:0",
        "http://a:65536", "http://a:+1", "http://a b", "http://[::1", "http://::1", "http://a:1:2",
    ])
    func `anything else is none`(_ text: String) {
        #expect(Origin(text) == nil)
    }

    @Test(arguments: [
        ("127.0.0.1:0", true), ("127.255.255.254:1", true), ("localhost:1", true),
        ("[::1]:1", true),
        ("0.0.0.0:1", false), ("128.0.0.1:1", false), ("127.0.0.1.example:1", false),
        ("127.0.0:1", false), ("[::]:1", false), ("relay.example:1", false),
    ])
    func `only this machine's own addresses are loopback`(_ text: String, _ expected: Bool) throws {
        #expect(try #require(SocketAddressText(text)).isLoopback == expected)
    }

    @Test(arguments: ["", ":1", "a:", "a", "a:65536", "[]:1", "[a b]:1", "a b:1"])
    func `an address has a host and a port`(_ text: String) {
        #expect(SocketAddressText(text) == nil)
    }
}
