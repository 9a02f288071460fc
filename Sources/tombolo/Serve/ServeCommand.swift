import Glibc
import TomboloJSON
import TomboloLoop

/// `serve`.
enum ServeCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let sources = try ConfigurationSources(context.invocation)
        let checked = try sources.checked()
        for notice in checked.notices(at: SystemClock().now()) {
            context.terminal.complain("tombolo: \(sources.line(notice))\n")
        }
        let lanes = LaneSender()
        try lanes.open(checked.apps, loop: context.loop)
        var configuration = checked.configuration
        configuration.readConsole(from: context.invocation.text(.consoleDirectory))
        let service = try await RelayService(
            configuration, tls: checked.tls, lanes: lanes, loop: context.loop
        ) {
            context.terminal.complain("tombolo: \($0)\n")
        }
        let ready = ReadyLine(api: service.origin)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await lanes.run() }
            group.addTask { try await stopOnSignal(service, context.loop) }
            let reload = ServeReload(context, sources, checked, lanes: lanes, service: service)
            group.addTask { try await reload.runOnSignal() }
            group.addTask { try await reload.watchCertificate() }
            defer { group.cancelAll() }
            try await service.run {
                if context.terminal.outputIsTerminal {
                    try context.terminal.print(
                        "the relay is ready at \(ready.api); its console: \(ready.console)")
                } else {
                    try context.terminal.write(ready.json.bytes + [10])
                }
            }
        }
        return .succeeded
    }

    /// The first signal stops gracefully; the second does what it does to any program.
    private static func stopOnSignal(_ service: RelayService, _ loop: EpollLoop) async throws {
        let signals = try SignalWaiter([SIGTERM, SIGINT], on: loop)
        defer { signals.close() }
        _ = try await signals.next()
        signals.close()
        await service.stop()
    }
}
