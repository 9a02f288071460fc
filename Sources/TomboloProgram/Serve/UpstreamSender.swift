import TomboloAPNs
package import TomboloCore
package import TomboloLoop
package import TomboloRelay
import TomboloServer

/// Connects the relay and the push clients: passes on pushes, and outcomes to the relay.
///
/// The relay is made before the clients, because `dev` learns the endpoint later. Until then the
/// upstreams have no capacity. Used on the loop only.
package final class UpstreamSender: PushSender, ChannelService, @unchecked Sendable {
    // Sendable: used on the loop's thread only; relay and push clients call it there.

    private var upstreams: [UpstreamClient] = []
    /// Clients that `run` will start next.
    private var starting: [UpstreamClient] = []
    private var startingPlace: Parking?
    private var keys: [KeyName: ProviderKey] = [:]
    private weak var relay: Relay?
    /// False while nothing may be sent, because another relay may own the log; see
    /// `APNsClient.mayPush`. Set it before `open`. Nil means that pushes may always be sent.
    var mayPush: (@Sendable () -> Bool)?

    /// Time limit for the connection with a new key. If it does not open, the old key stays in use.
    static let warmTime = Duration.seconds(20)

    package init() {}

    /// Call it before the relay runs.
    package func attach(_ relay: Relay) {
        self.relay = relay
        for upstream in upstreams { upstream.relay = relay }
    }

    /// Makes a client for each app; an app's place in the configuration is its upstream's number.
    package func open(_ apps: [CheckedApp], loop: EpollLoop) throws(ProgramError) {
        for app in apps {
            do {
                let upstream = try UpstreamClient(
                    app, key: key(of: app, loop: loop), loop: loop, mayPush: mayPush)
                upstream.relay = relay
                upstream.isCurrent = true
                upstreams.append(upstream)
                starting.append(upstream)
            } catch {
                throw .usage("app \(app.app.id): \(error)", remedy: "tombolo config check")
            }
        }
    }

    /// Runs all upstreams and their replacements, until the task is cancelled.
    package func run() async throws {
        guard let loop = upstreams.first?.loop else { return }
        let place = Parking(loop)
        startingPlace = place
        try await withThrowingTaskGroup(of: Void.self) { group in
            while !Task.isCancelled {
                for upstream in starting { group.addTask { try await upstream.run() } }
                starting = []
                if await place.park() == .cancelled { break }
            }
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    /// Applies the keys of a reloaded configuration without a restart.
    ///
    /// A changed key is tested first: a new connection opens, and Apple answers a push to a token
    /// that no phone has. After this, new pushes use the new key, and pushes in flight finish with
    /// the old one. If the key cannot be read or Apple refuses it, the old key stays in use. All
    /// upstreams are tested at the same time, each for at most `warmTime`. Returns the notes in the
    /// order of the upstreams.
    ///
    /// - Parameter isDryRun: true to check the files only, without asking Apple.
    func rotate(
        _ sources: ConfigurationSources, loop: EpollLoop, isDryRun: Bool
    ) async -> [OperatorNote] {
        var notes: [(index: Int, note: OperatorNote)] = []
        var replacements: [(index: Int, next: UpstreamClient)] = []
        let apps = sources.configuration.apps
        for (index, upstream) in upstreams.enumerated() {
            guard let place = apps.firstIndex(where: { upstream.checked.isUpstream(of: $0) }) else {
                let text = "it is not in the configuration any more; a restart removes it"
                notes.append(
                    (
                        index,
                        OperatorNote(
                            .warning, .configurationNeedsRestart, "app \(upstream.app.id): \(text)")
                    ))
                continue
            }
            do {
                let checked = try CheckedApp(
                    apps[place], at: place, upstream: upstream.number,
                    connectEvery: upstream.checked.upstream.connectEvery)
                let isKeyNew = KeyName(checked) != KeyName(upstream.checked)
                let trusts = checked.upstream.authorities == upstream.checked.upstream.authorities
                guard isKeyNew || !trusts else {
                    // Apple may accept now a key that it refused before: try a push.
                    if !isDryRun { relay?.probe(upstream.number) }
                    continue
                }
                guard !isDryRun else {
                    notes.append((index, Self.wouldBeProved(checked, isKeyNew: isKeyNew)))
                    continue
                }
                let key = key(of: checked, loop: loop)
                let next = try UpstreamClient(checked, key: key, loop: loop, mayPush: mayPush)
                replacements.append((index, next))
            } catch let faults as ConfigurationFaults {
                notes += faults.findings.map {
                    (index, Self.stays(upstream.app, ": \(sources.text($0))", remedy: $0.remedy))
                }
            } catch {
                notes.append((index, Self.stays(upstream.app, ": \(error)")))
            }
        }
        await withTaskGroup(of: (Int, OperatorNote).self) { group in
            for (index, next) in replacements {
                group.addTask {
                    (index, await self.replace(self.upstreams[index], by: next, at: index))
                }
            }
            for await replaced in group { notes.append(replaced) }
        }
        return notes.sorted { $0.index < $1.index }.map(\.note)
    }

    private static func wouldBeProved(_ app: CheckedApp, isKeyNew: Bool) -> OperatorNote {
        OperatorNote(
            .info, .configurationApplied,
            isKeyNew
                ? "app \(app.app.id): key \(app.app.keyID) would be proved, and applied where "
                    + "Apple takes it"
                : "app \(app.app.id): \(app.app.caFile ?? "ca_file") has changed: it would be "
                    + "proved, and applied")
    }

    private static func stays(
        _ app: Configuration.App, _ cause: String, remedy: String? = nil
    ) -> OperatorNote {
        OperatorNote(
            .error, .configurationRefused, "app \(app.id): key \(app.keyID) stays in use\(cause)",
            remedy: remedy)
    }

    private func replace(
        _ old: UpstreamClient, by next: UpstreamClient, at index: Int
    ) async -> OperatorNote {
        next.relay = relay
        starting.append(next)
        startingPlace?.unpark()
        let key = "key \(next.app.keyID)"
        switch await next.prove(within: Self.warmTime) {
        case .taken: break
        case .refused(let cause, let fix):
            next.retire()
            return Self.stays(old.app, ", \(key) is refused: \(cause)", remedy: fix)
        case .unanswered(let cause):
            next.retire()
            return Self.stays(
                old.app, ", \(key) is not proven: \(cause)",
                remedy: "tombolo doctor; then: tombolo config reload")
        }
        old.isCurrent = false
        next.isCurrent = true
        upstreams[index] = next
        next.tellCapacity()
        old.retire()
        relay?.probe(next.number)
        let what = next.key === old.key ? "\(next.app.caFile ?? "the system's authorities")" : key
        return OperatorNote(.info, .configurationApplied, "app \(next.app.id): \(what) is in use")
    }

    /// Number of pushes that have no outcome yet.
    var pushesInFlight: Int { upstreams.reduce(0) { $0 + $1.client.status.pushesInFlight } }

    var places: [MachineView.UpstreamPlace] {
        upstreams.map { upstream in
            MachineView.UpstreamPlace(
                app: upstream.app.id, environment: upstream.app.environment.name,
                endpoint: "\(upstream.checked.upstream.endpoint)", caFile: upstream.app.caFile ?? ""
            )
        }
    }

    package func send(_ push: Push) {
        let upstream = Int(push.upstream.rawValue)
        guard upstreams.indices.contains(upstream) else {
            let result = PushResult.notSent(reason: "upstream \(upstream) is not open yet")
            relay?.pushEnded(PushOutcome(push: push.id, result: result, took: .zero))
            return
        }
        upstreams[upstream].client.send(push)
    }

    // MARK: Channels

    package func create(
        _ storage: Channel.Storage, in upstream: UpstreamNumber
    ) async throws(ChannelFailure) -> String { try await manager(upstream).create(storage) }

    package func read(
        _ id: String, in upstream: UpstreamNumber
    ) async throws(ChannelFailure) -> Channel.Storage? { try await manager(upstream).read(id) }

    package func delete(_ id: String, in upstream: UpstreamNumber) async throws(ChannelFailure) {
        try await manager(upstream).delete(id)
    }

    package func list(in upstream: UpstreamNumber) async throws(ChannelFailure) -> [String] {
        try await manager(upstream).list()
    }

    private func manager(_ upstream: UpstreamNumber) throws(ChannelFailure) -> APNsChannels {
        let index = Int(upstream.rawValue)
        guard upstreams.indices.contains(index) else {
            throw .unreachable("upstream \(index) is not open yet")
        }
        return upstreams[index].channels
    }

    // MARK: Keys

    /// Identifies a key. Apps of one team with the same key share a provider token, because Apple
    /// counts renewals by key.
    private struct KeyName: Hashable {
        var team: String
        var key: String
        var p8: [UInt8]

        init(_ app: CheckedApp) {
            team = app.app.teamID
            key = app.app.keyID
            p8 = app.p8
        }
    }

    private func key(of app: CheckedApp, loop: EpollLoop) -> ProviderKey {
        let name = KeyName(app)
        if let known = keys[name] { return known }
        let key = ProviderKey(signer: app.signer, loop: loop) { SystemClock().now() }
        keys[name] = key
        return key
    }
}
