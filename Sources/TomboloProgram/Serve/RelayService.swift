import CLinux
import TomboloAPNs
import TomboloCore
import TomboloEventLog
import TomboloHTTP
import TomboloLog
import TomboloLoop
import TomboloPostgres
import TomboloRelay
import TomboloServer

/// A whole relay in this process: log, core and shell, push upstreams, API, and the listener. Used
/// on the loop only.
///
/// It listens from `init` on and answers from `run` on. `stop` ends it after accepted requests.
final class RelayService: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    let relay: Relay
    private let log: EngineEventLog
    /// The database; nil if the log is in a directory.
    private let database: PostgresEventLog.Opened?
    private let upstreams: UpstreamSender
    private let access: AccessControl
    private let doors: ServerDoors
    private let server: HTTPServer
    /// Serves before this relay has its log; nil if it had it at once.
    private let front: RelayFront?
    private let loop: EpollLoop
    private let isSecure: Bool

    /// Maximum time for answering accepted requests after a stop.
    static let drainTime = Duration.seconds(10)
    /// How often to look whether another relay has taken the log.
    private static let ownerLook = Duration.milliseconds(200)
    /// Maximum time for pushes in flight after a stop: the push client waits as long.
    static let pushTime = Duration.seconds(10)

    /// Opens the log, recovers, and binds the listener. `report` gets a note for each damaged row,
    /// and all later notes. `tls` is made from the configuration's files; if it is nil, the
    /// listener uses clear text. `inherited` is a listening socket to use instead of an address.
    ///
    /// - Parameter front: opens the log instead, when no other relay owns it any more, and listens
    ///   already.
    init(
        _ configuration: Configuration, tls: TLSServerConfiguration? = nil,
        inherited: InheritedSocket? = nil, front: RelayFront? = nil, upstreams: UpstreamSender,
        loop: EpollLoop, report: @escaping @Sendable (OperatorNote) -> Void
    ) async throws {
        guard let home = LogHome(configuration) else {
            throw ProgramError.usage(
                "there is no data directory",
                remedy: "tombolo serve --data /var/lib/tombolo, or \"data\" in the --config file")
        }
        (self.loop, self.upstreams, self.front) = (loop, upstreams, front)
        let modes = configuration.data.map { DataModes($0, isDryRun: false).notes }
        for note in modes ?? [] { report(note) }
        var chance = SystemRandomNumberGenerator()
        let crashes = CrashNotes(configuration)
        let note = crashes?.watch()
        if crashes == nil { CrashNotes.watchWithoutPage() }
        let trapped = crashes?.trapped ?? [:]
        (log, database) = try await Self.openLog(
            home, front, configuration.retention, LogCaution(note: note, trapped: trapped))
        if let trust = database?.trust { upstreams.mayPush = { trust.holds } }
        Self.report(log.lastRun, report)
        relay = Relay(
            loop: loop, log: log, sender: upstreams, configuration: configuration.core,
            wallClock: SystemClock(after: database?.lastReading), seed: chance.next(),
            channels: upstreams,
            trapped: trapped, workNote: note,
            refusalReasons: APNsReason.names, report: report)
        upstreams.attach(relay)
        do {
            for line in try await relay.recover() { report(OperatorNote(.warning, .damage, line)) }
            // Return free memory to the system: reading took as much as the resulting state.
            tombolo_release_free_memory()
        } catch {
            throw ProgramError(error)
        }
        let keys = await relay.keys()
        let pepper = try home.pepper(keyCount: keys.count { $0.number != KeyOrder.number })
        access = AccessControl(pepper: pepper, records: keys, now: { SystemClock().now() })
        for number in access.unreadable {
            report(
                OperatorNote(
                    .warning, .damage, "API key \(number) cannot be read: it is refused",
                    remedy: "tombolo key mint"))
        }
        doors = ServerDoors(
            relay: relay, access: access, loop: loop,
            configuration: configuration.doors, channels: upstreams)
        doors.report = report
        isSecure = tls != nil
        doors.certificateEnd = tls?.validity.upperBound
        server =
            if let front { front.server } else {
                try Self.listen(
                    configuration.listen, inherited, tls, loop, doors,
                    limits: configuration.server)
            }
        watch(configuration.data)
    }

    private static func openLog(
        _ home: LogHome, _ front: RelayFront?, _ retention: LogRetention, _ caution: LogCaution
    ) async throws -> (EngineEventLog, PostgresEventLog.Opened?) {
        do {
            guard let front else { return try home.open(retention: retention, caution: caution) }
            let opened = try await front.openLog(retention: retention, caution: caution)
            return (opened.log, opened)
        } catch let error as EventLogError {
            throw ProgramError(error)
        }
    }

    private static func report(_ lastRun: Instant?, _ report: (OperatorNote) -> Void) {
        guard let lastRun else { return }
        report(
            OperatorNote(
                .warning, .lastRun,
                "the last run did not stop by itself: it was killed, or the machine went down; "
                    + "its last sign was at \(lastRun.rfc3339)",
                remedy: "journalctl -k, on the machine where it ran, for the kernel's own words"))
    }

    /// Gives the API access to figures of the server and the machine.
    private func watch(_ data: String?) {
        let (memory, cuts, upstreams) = (server.memory, server.cuts, upstreams)
        let figures = database?.figures
        doors.watch = { HTTPServerView(memory, cuts) }
        doors.machine = {
            var view = MachineReader(data: data).view
            view.upstreams = upstreams.places
            view.database = figures.map { MachineView.Database($0.view) }
            return view
        }
    }

    /// The relay's address for clients on this machine, with the actual port.
    var origin: Origin { server.origin(isSecure: isSecure) }

    /// Serves until `stop` has finished. Throws if the log fails, because only a restart can find
    /// out what is on disk, and if another relay takes it.
    ///
    /// - Parameter ready: called once the relay accepts requests.
    func run(_ ready: @escaping @Sendable () async throws -> Void) async throws {
        do {
            try await serve(ready)
        } catch {
            await log.close()
            guard let failure = error as? EventLogError else { throw error }
            guard case .owned(let cause, let hint) = failure else { throw ProgramError(failure) }
            throw ProgramError(cause, remedy: hint)
        }
        await log.close()
    }

    private func serve(_ ready: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Part.self) { group in
            group.addTask {
                try await self.relay.run()
                return .relay
            }
            if let front {
                front.doors.doors = doors
            } else {
                group.addTask {
                    try await self.server.run()
                    return .server
                }
            }
            if let trust = database?.trust {
                group.addTask {
                    while trust.lost == nil { try await self.loop.sleep(for: Self.ownerLook) }
                    if let lost = trust.lost { throw lost }
                    return .other
                }
            }
            group.addTask {
                await self.relay.makeChannels()
                return .other
            }
            group.addTask {
                try await self.doors.keepKeys()
                return .other
            }
            group.addTask {
                try await self.doors.keepHistory()
                return .other
            }
            group.addTask {
                while await !self.relay.isRunning {
                    try await self.loop.sleep(for: .milliseconds(1))
                }
                try await ready()
                return .other
            }
            defer { group.cancelAll() }
            while let part = try await group.next(), part != .relay {}
        }
    }

    private enum Part { case relay, server, other }

    /// Accepts no more requests and finishes the accepted ones; then `run` returns.
    func stop() async {
        log.hurry()
        doors.drain()
        await relay.endWaits()
        await server.drain(within: Self.drainTime)
        let deadline = loop.now + Self.pushTime
        while upstreams.pushesInFlight > 0, loop.now < deadline {
            // The task is cancelled: stop without waiting for Apple.
            guard (try? await loop.sleep(for: .milliseconds(10))) != nil else { break }
        }
        await doors.storeUses()
        await relay.finish()
    }

    /// Makes a key with all scopes and stores it in the log. For `dev`.
    func mintKey() async throws -> String {
        let minted = access.mint(
            environment: "dev", tenant: .main, scopes: .all, now: await relay.wallNow())
        guard
            case .stored = await relay.storeKey(number: minted.record.number, value: minted.encoded)
        else { throw ProgramError("the key could not be stored") }
        access.admit(minted)
        return minted.key.text
    }

    /// Makes `/v1/phones` forward to these phones. For `dev`.
    func reach(_ phones: any PhoneControl) {
        guard let tenant = Identifier("main") else { preconditionFailure("main is an identifier") }
        doors.phoneWall = PhoneWall(tenant: TenantID(tenant), control: phones)
    }

    /// Sets the function that `POST /v1/configuration/reload` calls.
    func onReload(_ reload: @escaping @Sendable (Bool) async -> [OperatorNote]) {
        doors.reload = reload
    }

    /// Sets another certificate for new connections.
    func reload(_ tls: TLSServerConfiguration) {
        guard isSecure else { return }
        server.reload(tls)
        doors.certificateEnd = tls.validity.upperBound
    }

    static func listen(
        _ address: SocketAddressText, _ inherited: InheritedSocket?, _ tls: TLSServerConfiguration?,
        _ loop: EpollLoop, _ doors: any HTTPHandler, limits: HTTPServerLimits
    ) throws(ProgramError) -> HTTPServer {
        do {
            return try HTTPServer(
                loop: loop, listen: ListenAddress(host: address.host, port: Int(address.port)),
                inherited: inherited, tls: tls, limits: limits,
                unixTime: { SystemClock().now().seconds }, handler: doors)
        } catch {
            throw ProgramError(
                "cannot listen on \(address): \(error)",
                remedy: "stop what is there, or choose another: --listen 127.0.0.1:0")
        }
    }
}

extension Configuration {
    /// `--console-dir`: directory with the console's files; nil means the compiled-in files.
    mutating func readConsole(from directory: String?) {
        guard let directory else { return }
        // If a file is missing or cannot be read, the answer is 404.
        doors.console = ConsoleFiles { try? FileBytes.read("\(directory)/\($0)") }
    }

    /// The part of the configuration that the core uses.
    var core: CoreConfiguration {
        var core = CoreConfiguration(
            apps: apps.map { app in
                CoreConfiguration.App(
                    tenant: app.tenant, id: app.id, environment: app.environment,
                    allowsLab: app.allowsLab)
            })
        core.budgets = budgets
        core.limits = limits
        core.zones = ZoneDirectory.shared
        core.factRoom = FactRoom(bytes: Int64(retention.factBytes), age: retention.facts)
        return core
    }
}

extension Configuration.App {
    /// True if the app may use class `lab`, which is only for pushes that do not go to Apple.
    var allowsLab: Bool {
        guard let endpoint else { return false }
        return endpoint.host != "push.apple.com" && !endpoint.host.hasSuffix(".push.apple.com")
    }
}

extension HTTPServer {
    /// The address for clients on this machine, with the actual port.
    func origin(isSecure: Bool) -> Origin {
        let host = address.host
        return Origin(
            scheme: isSecure ? .https : .http,
            host: host == "0.0.0.0" ? "127.0.0.1" : host == "::" ? "::1" : host,
            port: UInt16(address.port))
    }
}

extension MachineView.Database {
    fileprivate init(_ view: PostgresFigures.View) {
        self.init(
            durability: view.durability, commitMedian: view.commitMedian,
            commitP99: view.commitP99, bytes: view.bytes, deadRows: view.deadRows,
            oldestSnapshot: view.oldestSnapshot, standbys: view.standbys)
    }
}

extension ProgramError {
    init(_ error: EventLogError) {
        switch error {
        case .unusable(let cause, let hint), .owned(let cause, let hint),
            .unavailable(let cause, let hint):
            self.init(cause, remedy: hint, status: .notFoundOrConflict)
        case .full(let hint): self.init("the disk is full", remedy: hint)
        case .outcomeUnknown(let cause):
            self.init(
                "the log failed, and what was being stored may be stored or not: \(cause)",
                remedy: "start the relay again: it recovers what is on disk")
        default: self.init("the log: \(error)")
        }
    }
}
