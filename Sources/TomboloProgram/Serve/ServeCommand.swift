import Glibc
import TomboloHTTP
import TomboloLoop
import TomboloRelay
import TomboloServer

/// `serve`: runs a relay.
enum ServeCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        // Do this first, so that a SIGHUP does not end a relay that is still starting.
        let hangUps = try SignalWaiter([SIGHUP], on: context.loop)
        defer { hangUps.close() }
        let manager = try Supervisor(context.environment)
        let sources = try ConfigurationSources(context.invocation, socket: manager.address)
        let checked = try sources.checked()
        let log = OperatorLog(checked.configuration.logFormat, loop: context.loop)
        defer { log.end() }
        let life = RelayLife(log, loop: context.loop)
        do {
            try await serve(context, manager, sources, checked, life, hangUps)
            life.ended(nil)
            return .succeeded
        } catch let error as ProgramError {
            life.ended(error)
            return error.status
        }
    }

    private static func serve(
        _ context: CommandContext, _ manager: Supervisor, _ sources: ConfigurationSources,
        _ checked: CheckedConfiguration, _ life: RelayLife, _ hangUps: SignalWaiter
    ) async throws {
        for notice in checked.notices(at: SystemClock().now()) {
            life.log.write(sources.note(notice))
        }
        guard let database = checked.configuration.database else {
            return try await serve(context, manager, sources, checked, life, hangUps, nil)
        }
        let front = try RelayFront(
            checked, database, inherited: manager.listener, loop: context.loop)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await front.server.run() }
            group.addTask { try await manager.reassure(on: context.loop) }
            defer { group.cancelAll() }
            guard try await wait(context, manager, front, life, hangUps) else { return }
            try await serve(context, manager, sources, front.checked, life, hangUps, front)
        }
    }

    /// Waits until no other relay owns the log. Returns false if a signal came first.
    private static func wait(
        _ context: CommandContext, _ manager: Supervisor, _ front: RelayFront, _ life: RelayLife,
        _ hangUps: SignalWaiter
    ) async throws -> Bool {
        let signals = try SignalWaiter([SIGTERM, SIGINT], on: context.loop)
        defer { signals.close() }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await front.readAgain(context, manager.address, hangUps) { life.log.write($0) }
            }
            group.addTask {
                life.signal = try await signals.next()
                front.giveUp()
            }
            defer { group.cancelAll() }
            return try await front.wait { owner in
                life.waits(owner.text, at: front.origin)
                await manager.ready(owner.text, on: context.loop)
                guard !front.hasSaidThatItWaits else { return }
                front.hasSaidThatItWaits = true
                try context.terminal.write(line: ReadyLine(api: front.origin).waiting)
            } trouble: { cause in
                life.log.write(
                    cause.map {
                        OperatorNote(
                            .error, .logSilent,
                            "the log's owner cannot be looked at, and the log not be taken: \($0)")
                    }
                        ?? OperatorNote(
                            .info, .logAnswers, "the log's owner can be looked at again"))
            }
        }
    }

    private static func serve(
        _ context: CommandContext, _ manager: Supervisor, _ sources: ConfigurationSources,
        _ checked: CheckedConfiguration, _ life: RelayLife, _ hangUps: SignalWaiter,
        _ front: RelayFront?
    ) async throws {
        let upstreams = UpstreamSender()
        upstreams.mayPush = front?.mayPush
        try upstreams.open(checked.apps, loop: context.loop)
        var configuration = checked.configuration
        configuration.readConsole(from: context.invocation.text(.consoleDirectory))
        let service = try await RelayService(
            configuration, tls: checked.tls, inherited: manager.listener, front: front,
            upstreams: upstreams, loop: context.loop
        ) { life.log.write($0) }
        let ready = ReadyLine(api: service.origin)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await upstreams.run() }
            group.addTask { try await stopOnSignal(service, manager, life, context.loop) }
            if front == nil { group.addTask { try await manager.reassure(on: context.loop) } }
            let reload = ServeReload(
                context, manager, sources, checked, upstreams: upstreams, service: service,
                log: life.log)
            service.onReload { await reload.reload(isDryRun: $0) }
            group.addTask { try await reload.run(on: hangUps) }
            group.addTask { try await reload.watchCertificate() }
            defer { group.cancelAll() }
            try await service.run { [configuration] in
                life.started(configuration, at: ready.api)
                await manager.ready("It takes requests at \(ready.api)", on: context.loop)
                if context.terminal.outputIsTerminal {
                    try context.terminal.print(
                        "the relay is ready at \(ready.api); its console: \(ready.console)")
                } else {
                    try context.terminal.write(line: ready.json)
                }
            }
        }
    }

    /// The first signal stops the relay gracefully. A second one has its default effect.
    private static func stopOnSignal(
        _ service: RelayService, _ manager: Supervisor, _ life: RelayLife, _ loop: EpollLoop
    ) async throws {
        let signals = try SignalWaiter([SIGTERM, SIGINT], on: loop)
        defer { signals.close() }
        life.signal = try await signals.next()
        signals.close()
        await manager.stopping(on: loop)
        await service.stop()
    }
}
