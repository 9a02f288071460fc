import Glibc
import TomboloAPNs
import TomboloCore
import TomboloCrypto
import TomboloJSON
import TomboloLoop
import TomboloProgram

/// `bench push`: measures the cost of one push in the relay's own push client.
enum BenchPushCommand {
    /// Number of distinct device tokens if no file gives any.
    static let tokensByDefault = 1_000
    /// Bytes of each push's body if no file gives one.
    static let payloadBytesByDefault = 400
    /// Time limit for the first connection. It takes milliseconds here, and a second to Apple.
    static let connectTime = Duration.seconds(10)
    static let bundleID = "com.example.app"

    /// Sends the pushes, waits for every outcome, and prints one line.
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let invocation = context.invocation
        let material = PushMaterial(
            tokens: try tokens(invocation.text(.benchTokens)),
            state: try content(invocation.text(.benchPayload)).state)
        let load = PushLoad(
            count: invocation.integer(.benchCount) ?? 1,
            window: (invocation.integer(.benchStreams) ?? 1)
                * (invocation.integer(.benchConnections) ?? 1),
            material: material, loop: context.loop)
        let client = try client(invocation, load, context.loop)
        load.client = client
        let began = context.loop.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await client.run() }
            group.addTask { try await load.untilDone(connectedWithin: Self.connectTime) }
            defer { group.cancelAll() }
            try await group.next()
        }
        let seconds = Double((context.loop.now - began).nanoseconds) / 1e9
        let report = load.report(seconds: seconds, sentBytes: client.status.sentBytes)
        try context.terminal.write(line: report)
        return load.errors == 0 ? .succeeded : .failed
    }

    private static func client(
        _ invocation: Invocation, _ load: PushLoad, _ loop: EpollLoop
    ) throws(ProgramError) -> APNsClient {
        guard let endpoint = invocation.origin(.benchEndpoint) else {
            throw .usage(
                "there is no endpoint", remedy: "tombolo-bench push --endpoint https://HOST:PORT")
        }
        do {
            // A new key that Apple does not know: the pushes go to a simulator.
            let signer = try ProviderTokenSigner(
                keyID: "BENCHKEY01", teamID: "BENCHTEAM1", p8: P256PrivateKey.generate().pkcs8PEM)
            let key = ProviderKey(signer: signer, loop: loop) { SystemClock().now() }
            let configuration = try APNsConfiguration(
                upstream: UpstreamNumber(0), bundleID: bundleID, environment: .sandbox,
                endpoint: try APNsEndpoint(url: endpoint.description),
                authorities: try invocation.text(.caFile).map { try FileBytes.read($0) },
                connections: invocation.integer(.benchConnections) ?? 1)
            return try APNsClient(
                configuration, key: key, loop: loop, chance: SystemRandomNumberGenerator(),
                receiver: load)
        } catch {
            throw .usage("the endpoint cannot be used: \(error)", remedy: "tombolo-bench help push")
        }
    }

    private static func tokens(_ path: String?) throws(ProgramError) -> [String] {
        guard let path else {
            return (0..<tokensByDefault).map { Hex.encode(SHA256.digest("token\($0)")) }
        }
        let bytes = try FileBytes.given(path)
        let tokens = bytes.split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
        let isHex = tokens.allSatisfy { $0.utf8.count == 64 && Hex.decode($0) != nil }
        guard !tokens.isEmpty, isHex else {
            throw .usage(
                "\(path) holds no device tokens", remedy: "one of 64 hex digits on each line")
        }
        return tokens
    }

    private static func content(_ path: String?) throws(ProgramError) -> Payload.Content {
        guard let path else { return contentByDefault }
        let bytes = try FileBytes.given(path)
        do {
            let root = try JSONDocument(bytes).root
            guard let state = root["aps"]?["content-state"]?.json else {
                throw ProgramError.usage(
                    "\(path) has no aps.content-state", remedy: "give a Live Activity's payload")
            }
            return Payload.Content(timestamp: 0, event: .update, state: state)
        } catch let error as ProgramError {
            throw error
        } catch {
            throw .usage("\(path) is not a payload: \(error)", remedy: "give a JSON object")
        }
    }

    /// An update whose encoding has `payloadBytesByDefault` bytes.
    private static var contentByDefault: Payload.Content {
        func content(_ filler: Int) -> Payload.Content {
            let note = String(repeating: "on the way ", count: payloadBytesByDefault / 11)
            let state =
                #"{"frame":17,"distance":1204.5,"pace":"5:12","note":"\#(note.prefix(filler))"}"#
            return Payload.Content(
                timestamp: SystemClock().now().seconds, event: .update,
                state: JSON(unchecked: Array(state.utf8)))
        }
        return content(payloadBytesByDefault - Payload.encode(content(0)).count)
    }
}

extension Flag {
    static let benchEndpoint = Flag(
        "endpoint", .origin, "where pushes go: a stand-in for Apple, over TLS with https")
    static let benchCount = Flag(
        "count", .integer(1...1_000_000_000), default: "100000", "how many pushes")
    static let benchStreams = Flag(
        "streams", .integer(1...1_000), default: "100", "pushes at once on each connection")
    static let benchConnections = Flag(
        "connections", .integer(1...APNsConfiguration.connectionsMax), default: "1",
        "how many connections")
    static let benchTokens = Flag(
        "tokens", .file, "device tokens, one on each line; 1,000 made-up ones by default")
    static let benchPayload = Flag(
        "payload", .file, "the payload whose content state is sent; 400 bytes by default")
}

extension Subcommand {
    static let benchPush = Subcommand(
        path: ["push"], summary: "Measure what one push costs",
        flags: [
            .benchEndpoint, .caFile, .benchCount, .benchStreams, .benchConnections, .benchTokens,
            .benchPayload, .output,
        ],
        details: [
            "Every push is encoded again and its answer classed, by the client that the relay sends\n"
                + "with. What was not sent, or may have been, is sent again until it is accepted, and\n"
                + "counted: errors are refusals. CPU is of the whole process."
        ],
        examples: [
            "tombolo-bench push --endpoint https://127.0.0.1:8443 --ca ca.pem --count 200000"
        ], exits: [.unreachable], run: BenchPushCommand.run)
}
