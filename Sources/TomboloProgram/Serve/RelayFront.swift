import Glibc
import TomboloCore
import TomboloEventLog
import TomboloHTTP
import TomboloLog
import TomboloLoop
import TomboloPostgres
import TomboloRelay
import TomboloServer

/// A relay before it has its log in a database: listens, says who owns the log, and waits until
/// nobody does. Used on the loop only.
final class RelayFront: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    let server: HTTPServer
    let doors: StandbyDoors
    /// The newest configuration that could be read; `serve` uses it once it has the log.
    private(set) var checked: CheckedConfiguration
    /// True once the program has said on stdout that it waits.
    var hasSaidThatItWaits = false
    private let standby: PostgresStandby
    private var lease: PostgresStandby.Taken?
    private let loop: EpollLoop
    private let isSecure: Bool

    private static let look = Duration.milliseconds(50)

    /// Binds the listener, and begins to watch the log's owner.
    init(
        _ checked: CheckedConfiguration, _ database: Configuration.Database,
        inherited: InheritedSocket?, loop: EpollLoop
    ) throws {
        (self.checked, self.loop) = (checked, loop)
        isSecure = checked.tls != nil
        let doors = StandbyDoors(version: Program.version)
        self.doors = doors
        let configuration = checked.configuration
        server = try RelayService.listen(
            configuration.listen, inherited, checked.tls, loop, doors,
            limits: configuration.server)
        var chance = SystemRandomNumberGenerator()
        let pepper = try database.pepper().check
        do throws(EventLogError) {
            standby = try PostgresStandby(
                database.postgres, pepper: pepper,
                clock: SystemClock.sinceBoot, reading: SystemClock.reading,
                chance: chance.next())
        } catch {
            throw ProgramError(error)
        }
        doors.owner = { [standby] in standby.owner.map(StandbyDoors.Owner.init) }
        doors.trouble = { [standby] in standby.trouble }
    }

    var origin: Origin { server.origin(isSecure: isSecure) }

    /// `wait` returns false.
    func giveUp() { standby.end() }

    /// Returns true once this relay owns the log, and false after `giveUp`. Throws if the log
    /// cannot be used.
    ///
    /// - Parameters:
    ///   - report: called if another relay owns the log, for each owner.
    ///   - trouble: called with the cause when the owner cannot be looked at, and with nil when it
    ///     can again.
    func wait(
        _ report: @escaping @Sendable (StandbyDoors.Owner) async throws -> Void,
        trouble: @escaping @Sendable (String?) -> Void
    ) async throws -> Bool {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var (name, words): (String?, String?) = (nil, nil)
                while true {
                    if let owner = self.doors.owner(), owner.name != name {
                        name = owner.name
                        try await report(owner)
                    }
                    // Many of a kind are one.
                    if (self.standby.trouble == nil) != (words == nil) {
                        words = self.standby.trouble
                        trouble(words)
                    }
                    try await self.loop.sleep(for: Self.look)
                }
            }
            defer { group.cancelAll() }
            do throws(EventLogError) { lease = try await standby.taken() } catch {
                guard case .closed = error else { throw ProgramError(error) }
                return false
            }
            return true
        }
    }

    /// Says whether pushes may be sent; nil before `wait` has returned true.
    var mayPush: (@Sendable () -> Bool)? {
        guard let trust = lease?.trust else { return nil }
        return { trust.holds }
    }

    /// Opens the log after `wait`.
    func openLog(
        retention: LogRetention, caution: LogCaution
    ) async throws(EventLogError) -> PostgresEventLog.Opened {
        guard let taken = lease else { throw .closed }
        lease = nil
        return try await standby.openLog(
            taken, retention: retention, caution: caution, chance: SystemRandomNumberGenerator())
    }

    /// Reads the configuration again after each SIGHUP. If it cannot be used, the old one stays.
    func readAgain(
        _ context: CommandContext, _ socket: SocketAddressText?, _ hangUps: SignalWaiter,
        _ report: @escaping @Sendable (OperatorNote) -> Void
    ) async throws {
        while true {
            _ = try await hangUps.next()
            do {
                let next = try ConfigurationSources(context.invocation, socket: socket).checked()
                if isSecure, let tls = next.tls { server.reload(tls) }
                let changes = next.configuration.changesForRestart(since: checked.configuration)
                for change in changes {
                    report(OperatorNote(.warning, .configurationNeedsRestart, change))
                }
                guard changes.isEmpty else { continue }
                checked = next
                report(
                    OperatorNote(
                        .info, .configurationApplied,
                        "the configuration is read again: it is used when this relay has the log"))
            } catch {
                report(
                    OperatorNote(
                        .error, .configurationRefused, "nothing is changed: \(error.cause)",
                        remedy: error.remedy))
            }
        }
    }
}

extension StandbyDoors.Owner {
    fileprivate init(_ owner: PostgresStandby.Owner) {
        self.init(
            name: owner.holder, since: owner.since, lastBeat: owner.lastBeat,
            beatAge: owner.beatAge)
    }
}
