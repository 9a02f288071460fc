import Glibc
import TestSupport
import TomboloCrypto
import TomboloLoop

@testable import TomboloSimulator

/// A simulator on a loop of its own, over real TLS, with `curl` beside it.
final class SimulatorBench: @unchecked Sendable {  // used on its loop only
    /// What the simulator wrote.
    final class Lines: @unchecked Sendable {  // used on its loop only
        var texts: [String] = []
    }

    static let bundleID = "com.example.app"
    static let deviceToken = "a1f0"

    let simulator: Simulator
    let loop: EpollLoop
    let lines = Lines()
    let caFile: String
    /// A payload for programs that want a file.
    let payloadFile: String
    /// One for all requests, as a well-behaved sender has it.
    let providerToken: String

    private init(
        loop: EpollLoop, directory: String,
        _ configure: (inout SimulatorConfiguration) throws -> Void
    ) throws {
        let key = P256PrivateKey.generate()
        let known = ProviderKey(
            keyID: "ABC123DEFG", teamID: "TEAM123456", publicKey: key.publicKey)
        caFile = directory + "/ca.pem"
        payloadFile = directory + "/payload.json"
        try KeptFile(path: payloadFile).write(
            [UInt8](#"{"aps":{"event":"update"}}"#.utf8), mode: 0o600)
        var configuration = SimulatorConfiguration(keys: [known], bundleIDs: [Self.bundleID])
        configuration.port = 0
        configuration.caFile = caFile
        configuration.dataDirectory = directory
        try configure(&configuration)
        let lines = lines
        simulator = try Simulator(configuration, loop: loop) { line in
            lines.texts.append(String(decoding: line, as: UTF8.self))
        }
        self.loop = loop
        let signed =
            Base64URL.encode([UInt8](#"{"alg":"ES256","kid":"ABC123DEFG"}"#.utf8)) + "."
            + Base64URL.encode(
                [UInt8](#"{"iss":"TEAM123456","iat":\#(SystemWallClock.now().seconds)}"#.utf8))
        providerToken = signed + "." + Base64URL.encode(key.signature(over: [UInt8](signed.utf8)))
    }

    /// Runs `body` beside a simulator, and takes both down.
    static func run(
        _ configure: @escaping @Sendable (inout SimulatorConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (SimulatorBench) async throws -> Void
    ) async throws {
        try await run(configure: { configuration, _ in configure(&configuration) }) { bench, _ in
            try await body(bench)
        }
    }

    /// The same, with something that stands beside it and is made before it.
    static func run<Companion: Sendable>(
        configure:
            @escaping @Sendable (inout SimulatorConfiguration, EpollLoop) throws -> Companion,
        _ body: @escaping @Sendable (SimulatorBench, Companion) async throws -> Void
    ) async throws {
        try await onLoop { loop in
            let directory = try temporaryDirectory()
            defer {
                for name in ["/ca.pem", "/payload.json", "/start-tokens.seed", ""] {
                    remove(directory + name)
                }
            }
            var companion: Companion?
            let bench = try SimulatorBench(loop: loop, directory: directory) { configuration in
                companion = try configure(&configuration, loop)
            }
            guard let companion else { return }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await bench.simulator.run() }
                defer { group.cancelAll() }
                try await body(bench, companion)
            }
        }
    }

    /// A push by `curl --http2`: headers as given, over those of a right one (nil leaves one out).
    /// Answers status, version and the whole answer.
    func push(
        to token: String = deviceToken, method: String = "POST",
        _ headers: [String: String?] = [:],
        payload: String = #"{"aps":{"event":"update"}}"#, options: [String] = ["--http2"]
    ) async throws -> (status: String, text: String) {
        var all: [String: String?] = [
            "authorization": "bearer " + providerToken,
            "apns-topic": Self.bundleID + ".push-type.liveactivity",
            "apns-push-type": "liveactivity",
            "content-type": "application/json",
        ]
        all.merge(headers) { _, new in new }
        var arguments = ["--silent", "--max-time", "120"] + options
        arguments += ["--cacert", caFile, "-i", "-X", method]
        arguments += ["-w", "\n%{http_version} %{http_code}", "--data-binary", payload]
        for (name, value) in all.sorted(by: { $0.key < $1.key }) {
            if let value { arguments += ["-H", "\(name): \(value)"] }
        }
        arguments.append(simulator.url + "/3/device/" + token)
        let text = try await SubprocessOutput("curl", arguments, on: loop, withErrors: false).wait()
        return (String(text.split(separator: "\n").last ?? ""), text)
    }

    static func temporaryDirectory() throws -> String {
        guard let path = strdup("/tmp/tombolo-simulator-XXXXXX") else {
            throw Subprocess.CannotStart(description: "no folder")
        }
        defer { free(path) }
        guard mkdtemp(path) != nil else { throw Subprocess.CannotStart(description: "no folder") }
        return String(cString: path)
    }
}
