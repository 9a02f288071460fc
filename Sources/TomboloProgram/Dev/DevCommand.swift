import Glibc
import TomboloCore
import TomboloJSON
import TomboloLoop
import TomboloRelay

/// `dev`: runs a relay and simulated phones.
enum DevCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let invocation = context.invocation
        guard let listen = invocation.address(.listen),
            let address = invocation.address(.simulatorAddress),
            let phones = invocation.integer(.phones)
        else { throw ProgramError.usage("no address", remedy: "tombolo help dev") }
        guard listen.isLoopback else {
            throw ProgramError.usage(
                "\(listen) can be reached from other machines, and dev speaks clear text",
                remedy: "tombolo dev --listen 127.0.0.1:8780")
        }
        try SimCommand.check(invocation.pairs(.phoneSetting), phones: phones)
        let workplace = try DevWorkplace(invocation.text(.devData))
        // Cards are drawn on the same terminal, so only warnings may interrupt them.
        let isShared = context.terminal.outputIsTerminal && context.terminal.errorIsTerminal
        let log = OperatorLog(
            context.invocation.text(.log).flatMap(OperatorLogFormat.init) ?? .text,
            least: isShared ? .warning : .info, loop: context.loop)
        defer { log.end() }
        let life = RelayLife(log, loop: context.loop)
        do {
            let run = try await DevRun(
                context, workplace: workplace, listen: listen, simulator: address, phones: phones,
                life: life)
            try await run.run()
            life.ended(nil)
            return .succeeded
        } catch let error as ProgramError {
            life.ended(error)
            return error.status
        }
    }
}

/// One run of `dev`: the relay in this process, the simulator in another, and the output, which is
/// a screen or lines. Used on the loop only.
final class DevRun: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let context: CommandContext
    private let workplace: DevWorkplace
    private let address: SocketAddressText
    private let phones: Int
    private let loop: EpollLoop
    private let life: RelayLife
    private let upstreams = UpstreamSender()
    private var configuration: Configuration
    private let service: RelayService
    private var simulator: SimulatorProcess?

    init(
        _ context: CommandContext, workplace: DevWorkplace, listen: SocketAddressText,
        simulator address: SocketAddressText, phones: Int, life: RelayLife
    ) async throws {
        (self.context, self.life, self.workplace) = (context, life, workplace)
        (self.address, self.phones) = (address, phones)
        loop = context.loop
        let database = try context.invocation.text(.database).map {
            url throws(ProgramError) in try Configuration.Database(url: url)
        }
        configuration = workplace.configuration(listen, database)
        if let database = configuration.database { _ = try LogCreateCommand.create(database) }
        configuration.readConsole(from: context.invocation.text(.consoleDirectory))
        service = try await RelayService(configuration, upstreams: upstreams, loop: context.loop) {
            life.log.write($0)
        }
    }

    /// Runs until a signal comes, the user presses `q`, or the simulator ends.
    func run() async throws {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await self.stopOnSignal() }
                defer { group.cancelAll() }
                try await service.run { try await self.play() }
            }
        } catch {
            await simulator?.stop()
            throw error
        }
        await simulator?.stop()
    }

    /// Starts the phones after the relay has begun to answer.
    private func play() async throws {
        let key = try await service.mintKey()
        var environment = context.environment
        environment["TOMBOLO_KEY"] = key
        let simulator = try SimulatorProcess(
            workplace.simulatorArguments(
                address, relay: service.origin, phones: phones,
                types: context.invocation.all(.phoneType),
                settings: context.invocation.all(.phoneSetting)),
            environment: environment, loop: loop)
        self.simulator = simulator
        let (url, caFile, origin) = try await simulator.ready()
        let host = ScenarioHost(service.origin, key: key, phones: phones, loop: loop)
        self.host = host
        let control = SimulatedPhones(origin, host, loop: loop)
        service.reach(control)
        configuration.apps[0].endpoint = Origin(url)
        configuration.apps[0].caFile = caFile
        try upstreams.open(try CheckedApp.all(of: configuration), loop: loop)
        try await registerFirstType(key: key)
        let ready = ReadyLine(api: service.origin, key: key, simulator: url, caFile: caFile)
        life.started(configuration, at: service.origin)
        try FileBytes.write(ready.json.bytes + [10], to: workplace.readyFile)
        let name = context.invocation.text(.scenario)
        if let name {
            _ = host.direct(name, runs: true)
            try announce(name, ready)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.upstreams.run() }
            group.addTask { try await self.show(ready, simulator, control) }
            group.addTask { try await host.run() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// How the phones' app draws an order, so that the first card looks like an order.
    private static let firstPreview =
        #"{"preview":{"title":"/step","subtitle":"/minutes","unit":"min","progress":"/progress","icon":"box"}}"#

    private func registerFirstType(key: String) async throws {
        let client = try await RelayClient.connect(
            to: service.origin, key: key, caFile: nil, loop: loop)
        defer { client.close() }
        let types = try await client.view("/v1/types?limit=1000", name: nil).items("types")
        guard !types.contains(where: { $0["type"]?.string == SimCommand.firstType }) else { return }
        _ = try await client.send(
            RelayRequest(
                "PUT", "/v1/types/\(SimCommand.firstType)", body: Array(Self.firstPreview.utf8)),
            name: nil)
    }

    /// Says where the wall shows a scenario, what one sees there, and what to press. Opens it where
    /// there is a browser.
    private func announce(_ name: String, _ ready: ReadyLine) throws {
        let words = Scenario(named: name)?.wall.joined(separator: " ") ?? ""
        guard !context.terminal.outputIsTerminal else {
            return try Browser.visit(ready.wall, by: workplace.wallFile, context)
        }
        context.terminal.complain("\(name): \(words)\nthe wall: \(ready.wall)\n")
    }

    /// Shows the phones and their events until the simulator ends.
    private func show(
        _ ready: ReadyLine, _ simulator: SimulatorProcess, _ control: SimulatedPhones
    ) async throws {
        if context.terminal.outputIsTerminal {
            let screen = DevScreen(
                context, ready: ready, phones: phones, control: control, relay: service.relay)
            if try await screen.run(simulator) { return await stop() }
        } else {
            let output = LineOutput(loop: loop)
            defer { output.end() }
            output.write(line: ready.json.bytes)
            while let line = try await simulator.nextLine() { output.write(line: line) }
        }
        guard !isStopping else { return }
        throw ProgramError("the simulator exited; see its output above")
    }

    private func stop() async {
        isStopping = true
        // First let the producer end its activities. In a kept directory they would stay for ever.
        let giveUpAt = loop.now + Self.performanceEnd
        host?.stopAll()
        while host?.isIdle == false, loop.now < giveUpAt {
            // If the task is cancelled, stop waiting.
            guard (try? await loop.sleep(for: .milliseconds(20))) != nil else { break }
        }
        await service.stop()
    }

    private static let performanceEnd = Duration.seconds(3)
    private var host: ScenarioHost?

    private var isStopping = false

    private func stopOnSignal() async throws {
        let signals = try SignalWaiter([SIGTERM, SIGINT, SIGHUP], on: loop)
        defer { signals.close() }
        life.signal = try await signals.next()
        await stop()
    }
}
