import TomboloLoop

/// `ready`: asks the configured relay whether it takes events, or with `--live` whether it runs.
///
/// This is the check of a container or of a supervisor. It asks nothing of Apple: no restart of the
/// relay helps while Apple is away. `--live` succeeds also while the disk is full or the log away.
enum ReadyCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let sources = try ConfigurationSources(
            context.invocation, path: context.invocation.argument(0))
        let (named, caFile) = (
            context.invocation.origin(.askedRelay), context.invocation.text(.caFile)
        )
        let origin = named ?? sources.configuration.ownOrigin
        let client = try await connect(origin, caFile, isOwn: named == nil, context.loop)
        defer { client.close() }
        let isLive = context.invocation.isGiven(.live)
        let answer = try await client.answer(
            RelayRequest("GET", isLive ? "/livez" : "/readyz", fields: [("accept", "text/plain")]))
        guard (200..<300).contains(answer.status) else {
            let said = String(decoding: answer.body, as: UTF8.self)
            throw ProgramError(
                "the relay at \(origin) answers \(answer.status): "
                    + OperatorLog.shown(said.split(separator: "\n").joined(separator: "; ")),
                remedy: "tombolo doctor")
        }
        try context.terminal.print("the relay at \(origin) \(isLive ? "runs" : "takes events")")
        return .succeeded
    }

    /// The own relay is asked by either scheme: a change of `tls` in the file may not be in force.
    private static func connect(
        _ origin: Origin, _ caFile: String?, isOwn: Bool, _ loop: EpollLoop
    ) async throws -> RelayClient {
        do {
            return try await RelayClient.connect(
                to: origin, key: nil, caFile: caFile, isOwn: isOwn, loop: loop)
        } catch let error as ProgramError {
            let other = Origin(
                scheme: origin.scheme == .https ? .http : .https, host: origin.host,
                port: origin.port)
            guard isOwn, !error.isConnectionRefused,
                // The first error is the one that is reported.
                let client = try? await RelayClient.connect(
                    to: other, key: nil, caFile: nil, isOwn: true, loop: loop)
            else { throw error }
            return client
        }
    }
}
