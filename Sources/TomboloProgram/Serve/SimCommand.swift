import Glibc
import TomboloCrypto
import TomboloJSON
import TomboloLoop
import TomboloSimulator

/// `sim`: runs simulated phones and a simulation of APNs.
enum SimCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let configuration = try configuration(context.invocation)
        try await checkTakeover(configuration, context)
        let output = LineOutput(loop: context.loop)
        defer { output.end() }
        let simulator: Simulator
        do {
            simulator = try Simulator(configuration, loop: context.loop) { line in
                output.write(line: line)
            }
        } catch let error as SimulatorError {
            throw ProgramError.usage(error.description, remedy: "tombolo help sim")
        } catch {
            let address = "\(configuration.host):\(configuration.port)"
            throw ProgramError(
                "the simulator cannot listen on \(address): \(error)",
                remedy: "stop what is there, or choose another: --listen 127.0.0.1:0")
        }
        let endsWithInput = context.invocation.isGiven(.endWithInput)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await simulator.run() }
            group.addTask { try await waitForSignal(context.loop) }
            if endsWithInput { group.addTask { try await waitForInputsEnd(context.loop) } }
            defer { group.cancelAll() }
            try await group.next()
        }
        return .succeeded
    }

    /// Throws if the relay has simulated phones already, as in `tombolo dev`, because the new
    /// phones would silently replace them.
    private static func checkTakeover(
        _ configuration: SimulatorConfiguration, _ context: CommandContext
    ) async throws {
        guard let origin = context.invocation.origin(.phonesRelay), configuration.phoneCount > 0,
            !context.invocation.isGiven(.takeover)
        else { return }
        // A relay that cannot be reached has no phones yet; the new phones will wait for it.
        let client = try? await RelayClient.connect(
            to: origin, key: configuration.relay?.key, caFile: nil, loop: context.loop)
        defer { client?.close() }
        // A relay without simulated phones answers 404: then `answer` is nil.
        let answer = try? await client?.send(RelayRequest("GET", "/v1/phones"), name: nil)
        guard answer == nil else {
            throw ProgramError.usage(
                "the relay at \(origin) has simulated phones of its own, and these would take "
                    + "their places",
                remedy: "name another with --relay, or use --phones 0 or --takeover")
        }
        context.terminal.complain(
            "tombolo: the phones register with \(origin); devices there with their names become "
                + "these phones\n")
    }

    private static func waitForSignal(_ loop: EpollLoop) async throws {
        let signals = try SignalWaiter([SIGTERM, SIGINT], on: loop)
        defer { signals.close() }
        _ = try await signals.next()
    }

    /// Returns when stdin ends, because the parent process has closed its end or has ended.
    private static func waitForInputsEnd(_ loop: EpollLoop) async throws {
        let input = try InputReader(nil, loop: loop)
        while try await input.next() != .end {}
    }

    private static func configuration(
        _ invocation: Invocation
    ) throws(ProgramError) -> SimulatorConfiguration {
        var configuration = SimulatorConfiguration(
            keys: try keys(invocation), bundleIDs: invocation.all(.topic))
        if let listen = invocation.address(.simulatorListen) {
            configuration.host = listen.host
            configuration.port = listen.port
        }
        configuration.acceptsAnyToken = invocation.isGiven(.acceptAnyToken)
        configuration.caFile = invocation.text(.caOut)
        configuration.dataDirectory = invocation.text(.simulatorData)
        for word in types(invocation.all(.phoneType)) { try add(word, to: &configuration) }
        if let count = invocation.integer(.startBudget) {
            configuration.startBudget = .init(count: count)
        }
        if let file = invocation.text(.faults) { configuration.faults = try faults(file) }
        if let control = invocation.address(.control) {
            configuration.control = (control.host, control.port)
        }
        if let environment = invocation.text(.environment) {
            configuration.environment = environment == "production" ? .production : .sandbox
        }
        if let origin = invocation.origin(.phonesRelay) {
            guard let key = invocation.text(.key) else {
                throw .usage(
                    "phones need a key for the relay",
                    remedy: "tombolo key mint --scope operate, then --key or TOMBOLO_KEY")
            }
            configuration.relay = .init(origin: origin.description, key: key)
        }
        if let phones = invocation.integer(.phones) {
            guard phones == 0 || configuration.relay != nil || !invocation.isGiven(.phones) else {
                throw .usage("--phones needs --relay", remedy: "tombolo help sim")
            }
            configuration.phoneCount = phones
        }
        configuration.hasPad = invocation.isGiven(.pad)
        try set(invocation.pairs(.phoneSetting), in: &configuration)
        return configuration
    }

    /// A type that accepts any state, for a first push.
    static let firstType = "OrderAttributes"

    /// The given types, and `firstType` if it is not among them.
    static func types(_ given: [String]) -> [String] {
        let isGiven = given.contains { $0 == firstType || $0.hasPrefix(firstType + "=") }
        return (isGiven ? [] : [firstType]) + given
    }

    /// Adds a type, given as `NAME` or as `NAME=FILE`.
    private static func add(
        _ word: String, to configuration: inout SimulatorConfiguration
    ) throws(ProgramError) {
        let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
        guard let name = parts.first, !configuration.attributesTypes.contains(name) else {
            throw .usage("--type \(word) names no other type", remedy: "tombolo help sim")
        }
        configuration.attributesTypes.append(name)
        guard parts.count > 1 else { return }
        // Parse the file as the relay does, to report errors. The phones have another parser.
        _ = try TypeFile.read(parts[1])
        configuration.shapes[name] = JSONShape(
            registered: try StateInput.object(path: parts[1]).document.root)
    }

    /// Throws if a setting is not valid for the phones.
    static func check(
        _ settings: [(name: String, value: String)], phones: Int
    ) throws(ProgramError) {
        var configuration = SimulatorConfiguration(keys: [], bundleIDs: [])
        configuration.phoneCount = phones
        configuration.hasPad = true
        try set(settings, in: &configuration)
    }

    private static func set(
        _ settings: [(name: String, value: String)], in configuration: inout SimulatorConfiguration
    ) throws(ProgramError) {
        do {
            for setting in settings { try configuration.set(setting.name, setting.value) }
        } catch {
            throw .usage(error.description, remedy: "tombolo help sim")
        }
        guard let unknown = configuration.unknownPhones.first else { return }
        throw .usage(
            "--phone \(unknown): there is no such phone",
            remedy: "name phone-1 to phone-\(configuration.phoneCount), or all")
    }

    private static func faults(_ file: String) throws(ProgramError) -> [FaultRule] {
        do {
            return try FaultRule.script(try FileBytes.read(file))
        } catch {
            throw .usage("--faults \(file): \(error)", remedy: "tombolo help sim")
        }
    }

    private static func keys(_ invocation: Invocation) throws(ProgramError) -> [ProviderKey] {
        let files = invocation.all(.keyFile)
        let ids = invocation.all(.keyID)
        guard !files.isEmpty else { return [] }
        guard ids.count == files.count, let team = invocation.text(.teamID) else {
            throw .usage(
                "each --key-file needs a --key-id, and all a --team-id", remedy: "tombolo help sim")
        }
        var keys: [ProviderKey] = []
        for (file, id) in zip(files, ids) {
            do {
                let key = try P256PrivateKey(pkcs8PEM: try FileBytes.read(file))
                keys.append(ProviderKey(keyID: id, teamID: team, publicKey: key.publicKey))
            } catch {
                throw .usage(
                    "--key-file \(file) is not a push key: \(error)", remedy: "ls -l \(file)")
            }
        }
        return keys
    }
}
