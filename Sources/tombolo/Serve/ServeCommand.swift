import Glibc
import TomboloJSON
import TomboloLoop

/// `serve`.
enum ServeCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let sources = try ConfigurationSources(context.invocation)
        if let fault = ConfigurationFiles(sources).faults.first {
            throw ProgramError.usage(fault.text, remedy: fault.remedy)
        }
        let configuration = sources.configuration
        let lanes = LaneSender()
        try lanes.open(configuration.apps, loop: context.loop)
        let service = try await RelayService(configuration, lanes: lanes, loop: context.loop) {
            context.terminal.complain("tombolo: \($0)\n")
        }
        let ready = ReadyLine(api: service.origin)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await lanes.run() }
            group.addTask { try await stopOnSignal(service, context.loop) }
            group.addTask { try await rotateOnSignal(lanes, context) }
            defer { group.cancelAll() }
            try await service.run {
                if context.terminal.outputIsTerminal {
                    try context.terminal.print("the relay is ready at \(ready.api)")
                } else {
                    try context.terminal.write(ready.json.bytes + [10])
                }
            }
        }
        return .succeeded
    }

    /// SIGHUP reads the configuration again, and takes other push keys into use. What cannot be
    /// read changes nothing.
    private static func rotateOnSignal(
        _ lanes: LaneSender, _ context: CommandContext
    ) async throws {
        let signals = try SignalWaiter([SIGHUP], on: context.loop)
        defer { signals.close() }
        while true {
            _ = try await signals.next()
            do throws(ProgramError) {
                let sources = try ConfigurationSources(context.invocation)
                let told = await lanes.rotate(sources.configuration.apps, loop: context.loop)
                for line in told.isEmpty ? ["no key has changed"] : told {
                    context.terminal.complain("tombolo: \(line)\n")
                }
            } catch {
                context.terminal.complain("tombolo: nothing is changed: \(error)\n")
            }
        }
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
