import TomboloAPNs
import TomboloCore
import TomboloLoop
import TomboloRelay
import TomboloServer

/// Joins the relay and the push clients: each push goes to its lane, each outcome comes back.
///
/// The relay is made before the clients are (in `dev` the endpoint is only known later): until then
/// the lanes take nothing, which is what a relay without connections assumes. On the loop only.
final class LaneSender: PushSender, ChannelService, @unchecked Sendable {
    // Sendable: used on the loop's thread only; relay and push clients call it there.

    private var lanes: [LaneClient] = []
    /// Clients that are to be run.
    private var starting: [LaneClient] = []
    private var startingPlace: Parking?
    private var keys: [KeyName: ProviderKey] = [:]
    private weak var relay: Relay?

    /// A new key's connection has so long to open, before the old key stays in use.
    static let warmTime = Duration.seconds(20)

    /// Before the relay runs.
    func attach(_ relay: Relay) {
        self.relay = relay
        for lane in lanes { lane.relay = relay }
    }

    /// One client for each app, in the order of the configuration: an app's place is its lane.
    func open(_ apps: [CheckedApp], loop: EpollLoop) throws(ProgramError) {
        for app in apps {
            do {
                let lane = try LaneClient(app, key: key(of: app, loop: loop), loop: loop)
                lane.relay = relay
                lane.isCurrent = true
                lanes.append(lane)
                starting.append(lane)
            } catch {
                throw .usage("app \(app.app.id): \(error)", remedy: "tombolo config check")
            }
        }
    }

    /// Runs all lanes, and those that take their place, until it is cancelled.
    func run() async throws {
        guard let loop = lanes.first?.loop else { return }
        let place = Parking(loop)
        startingPlace = place
        try await withThrowingTaskGroup(of: Void.self) { group in
            while !Task.isCancelled {
                for lane in starting { group.addTask { try await lane.run() } }
                starting = []
                if await place.park() == .cancelled { break }
            }
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    /// Takes the keys of a configuration that was read again into use, without a restart.
    ///
    /// Where a lane's key is another one, it is proven first: a connection with it is opened, and
    /// Apple answers a push to a token that no phone has. Then pushes go there, and what is in
    /// flight with the old key ends. A key that cannot be read, or that Apple does not take, leaves
    /// the old one in use. All lanes do so at once: each may wait for `warmTime`. Answers a note
    /// for each lane that has something to say, in their order.
    ///
    /// - Parameter isDryRun: files are read and judged, and Apple is not asked.
    func rotate(
        _ sources: ConfigurationSources, loop: EpollLoop, isDryRun: Bool
    ) async -> [OperatorNote] {
        var notes: [(index: Int, note: OperatorNote)] = []
        var replacements: [(index: Int, next: LaneClient)] = []
        let apps = sources.configuration.apps
        for (index, lane) in lanes.enumerated() {
            guard let place = apps.firstIndex(where: { lane.checked.isLane(of: $0) }) else {
                let text = "it is not in the configuration any more; a restart removes it"
                notes.append(
                    (
                        index,
                        OperatorNote(
                            .warning, .configurationNeedsRestart, "app \(lane.app.id): \(text)")
                    ))
                continue
            }
            do {
                let checked = try CheckedApp(
                    apps[place], at: place, lane: lane.number,
                    connectEvery: lane.checked.lane.connectEvery)
                let isKeyNew = KeyName(checked) != KeyName(lane.checked)
                let trusts = checked.lane.authorities == lane.checked.lane.authorities
                guard isKeyNew || !trusts else {
                    // What it waits for may be over.
                    if !isDryRun { relay?.probe(lane.number) }
                    continue
                }
                guard !isDryRun else {
                    notes.append((index, Self.wouldBeProved(checked, isKeyNew: isKeyNew)))
                    continue
                }
                let key = key(of: checked, loop: loop)
                replacements.append((index, try LaneClient(checked, key: key, loop: loop)))
            } catch let faults as ConfigurationFaults {
                notes += faults.findings.map {
                    (index, Self.stays(lane.app, ": \(sources.text($0))", remedy: $0.remedy))
                }
            } catch {
                notes.append((index, Self.stays(lane.app, ": \(error)")))
            }
        }
        await withTaskGroup(of: (Int, OperatorNote).self) { group in
            for (index, next) in replacements {
                group.addTask {
                    (index, await self.replace(self.lanes[index], by: next, at: index))
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
                ? "app \(app.app.id): key \(app.app.keyID) would be proved, and taken into use where "
                    + "Apple takes it"
                : "app \(app.app.id): \(app.app.caFile ?? "ca_file") has changed: it would be "
                    + "proved, and taken into use")
    }

    private static func stays(
        _ app: Configuration.App, _ cause: String, remedy: String? = nil
    ) -> OperatorNote {
        OperatorNote(
            .error, .configurationRefused, "app \(app.id): key \(app.keyID) stays in use\(cause)",
            remedy: remedy)
    }

    private func replace(
        _ old: LaneClient, by next: LaneClient, at index: Int
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
        lanes[index] = next
        next.tellCapacity()
        old.retire()
        relay?.probe(next.number)
        let what =
            next.key === old.key ? "\(next.app.caFile ?? "the system's authorities")" : key
        return OperatorNote(
            .info, .configurationApplied, "app \(next.app.id): \(what) is in use")
    }

    /// Pushes whose outcome is not known yet.
    var pushesInFlight: Int { lanes.reduce(0) { $0 + $1.client.status.pushesInFlight } }

    /// Where the pushes of each lane go.
    var places: [MachineView.UpstreamPlace] {
        lanes.map { lane in
            MachineView.UpstreamPlace(
                app: lane.app.id, environment: lane.app.environment.name,
                endpoint: "\(lane.checked.lane.endpoint)", caFile: lane.app.caFile ?? "")
        }
    }

    func send(_ push: Push) {
        let lane = Int(push.lane.rawValue)
        guard lanes.indices.contains(lane) else {
            let result = PushResult.notSent(reason: "lane \(lane) is not open yet")
            relay?.pushEnded(PushOutcome(push: push.id, result: result, took: .zero))
            return
        }
        lanes[lane].client.send(push)
    }

    // MARK: Channels

    func create(
        _ storage: Channel.Storage, in lane: LaneNumber
    ) async throws(ChannelFailure) -> String { try await manager(lane).create(storage) }

    func read(
        _ id: String, in lane: LaneNumber
    ) async throws(ChannelFailure) -> Channel.Storage? { try await manager(lane).read(id) }

    func delete(_ id: String, in lane: LaneNumber) async throws(ChannelFailure) {
        try await manager(lane).delete(id)
    }

    func list(in lane: LaneNumber) async throws(ChannelFailure) -> [String] {
        try await manager(lane).list()
    }

    private func manager(_ lane: LaneNumber) throws(ChannelFailure) -> APNsChannels {
        let index = Int(lane.rawValue)
        guard lanes.indices.contains(index) else {
            throw .unreachable("lane \(index) is not open yet")
        }
        return lanes[index].channels
    }

    // MARK: Keys

    /// Apps of one team with one key share its provider token: Apple counts its renewals by key.
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
