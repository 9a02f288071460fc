import Testing
import TomboloAPNs
import TomboloCore

struct APNsConfigurationTests {
    @Test func `without an endpoint pushes go to Apple's host of the environment`() throws {
        let production = try APNsConfiguration(
            upstream: UpstreamNumber(1), bundleID: "com.example.app", environment: .production)
        #expect(production.endpoint.description == "api.push.apple.com:443")
        #expect(production.endpoint.authority == "api.push.apple.com")
        let sandbox = try APNsConfiguration(
            upstream: UpstreamNumber(2), bundleID: "com.example.app", environment: .sandbox)
        #expect(sandbox.endpoint.description == "api.sandbox.push.apple.com:443")
        #expect(sandbox.endpoint.isSecure && sandbox.endpoint.isApple)
    }

    @Test(arguments: [
        ("https://127.0.0.1:8443", "127.0.0.1", 8443, "127.0.0.1:8443"),
        ("https://localhost", "localhost", 443, "localhost"),
        ("https://api.push.apple.com:2197/", "api.push.apple.com", 2197, "api.push.apple.com:2197"),
        ("http://localhost:80", "localhost", 80, "localhost"),
        ("http://h:65535", "h", 65_535, "h:65535"),
        ("https://[::1]:8443", "::1", 8443, "[::1]:8443"),
    ])
    func `an endpoint is read from a URL`(
        url: String, host: String, port: UInt16, authority: String
    ) throws {
        let endpoint = try APNsEndpoint(url: url)
        #expect(endpoint.host == host)
        #expect(endpoint.port == port)
        #expect(endpoint.authority == authority)
        #expect(endpoint.isSecure == url.hasPrefix("https"))
    }

    @Test(arguments: [
        "", "localhost:8443", "ftp://localhost", "https://", "https://:8443", "https://h:0",
        "https://h:65536", "https://h:", "https://h:+1", "https://h:8443/3/device", "https://h?q",
        "https://user@h", "https://::1", "https://[::1", "https://[]:1", "https://[h]:1",
        "https://h h", "https://[::1]8443",
    ])
    func `anything else is refused, and named`(url: String) {
        #expect(throws: APNsConfigurationError.endpoint(url)) { try APNsEndpoint(url: url) }
    }

    @Test(arguments: [
        "", "com.example.app ", "com.example/app", "com.exämple",
        "com.example.app.push-type.liveactivity", String(repeating: "a", count: 256),
    ])
    func `a bundle id with a suffix or a foreign character is refused`(id: String) {
        #expect(throws: APNsConfigurationError.bundleID(id)) {
            try APNsConfiguration(upstream: UpstreamNumber(1), bundleID: id, environment: .sandbox)
        }
    }

    @Test func `a bundle id of 255 characters and 1 to 64 connections are taken`() throws {
        for connections in [1, APNsConfiguration.connectionsMax] {
            let taken = try APNsConfiguration(
                upstream: UpstreamNumber(1), bundleID: String(repeating: "a", count: 255),
                environment: .sandbox, connections: connections)
            #expect(taken.connections == connections)
        }
        for connections in [-1, 0, APNsConfiguration.connectionsMax + 1] {
            #expect(throws: APNsConfigurationError.connections(connections)) {
                try APNsConfiguration(
                    upstream: UpstreamNumber(1), bundleID: "a", environment: .sandbox,
                    connections: connections)
            }
        }
    }
}
