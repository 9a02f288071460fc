import Testing

@testable import TomboloSimulator

@Suite struct RelayOriginTests {
    @Test(arguments: [
        ("http://127.0.0.1:8780", "127.0.0.1", 8_780, "127.0.0.1:8780"),
        ("https://relay.example/", "relay.example", 443, "relay.example"),
        ("http://[::1]:80", "::1", 80, "[::1]:80"),
        ("https://[::1]", "::1", 443, "[::1]"),
    ])
    func `an origin is taken apart`(
        text: String, host: String, port: Int, authority: String
    ) throws {
        let origin = try RelayOrigin(text)
        #expect(origin.host == host)
        #expect(origin.port == port)
        #expect(origin.authority == authority)
    }

    @Test(arguments: [
        "", "127.0.0.1:8780", "ftp://a", "http://", "http://a:0", "http://a:70000", "http://a:b",
        "http://a/v1", "http://u@a", "http://:80", "http://[]:80",
    ])
    func `what is no origin is refused, with an example of one`(text: String) {
        let error = #expect(throws: SimulatorError.self) { try RelayOrigin(text) }
        #expect(error?.description.contains("http://127.0.0.1:8780") == true)
    }
}
