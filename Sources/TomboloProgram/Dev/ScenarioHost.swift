import TomboloCore
import TomboloJSON
import TomboloLoop

/// The producers of the scenarios of `dev`. Each runs until it is stopped. Used on the loop only.
final class ScenarioHost: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let origin: Origin
    private let key: String
    private let phones: Int
    private let loop: EpollLoop
    private var wanted: Set<String> = []
    private var running: Set<String> = []
    /// Why a scenario has ended by itself.
    private var troubles: [String: String] = [:]
    private var place: Parking?

    static let names = Scenario.ofCards + Scenario.ofWidgets
    /// The sentences of each scenario. The wall asks for them many times a second.
    private static let words = names.map { (name: $0, words: Scenario(named: $0)?.wall ?? []) }

    init(_ origin: Origin, key: String, phones: Int, loop: EpollLoop) {
        (self.origin, self.key, self.phones, self.loop) = (origin, key, phones, loop)
    }

    var isIdle: Bool { running.isEmpty }

    /// Starts or stops a scenario. Returns false if there is no such scenario.
    func direct(_ name: String, runs: Bool) -> Bool {
        guard Self.names.contains(name) else { return false }
        if runs { wanted.insert(name) } else { wanted.remove(name) }
        troubles[name] = nil
        place?.unpark()
        return true
    }

    func stopAll() { wanted = [] }

    /// Plays what is wanted until the task is cancelled.
    func run() async throws {
        let place = Parking(loop)
        self.place = place
        try await withThrowingTaskGroup(of: Void.self) { group in
            while !Task.isCancelled {
                for name in wanted.subtracting(running).sorted() {
                    running.insert(name)
                    group.addTask { try await self.perform(name) }
                }
                if await place.park() == .cancelled { break }
            }
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    private func perform(_ name: String) async throws {
        defer {
            running.remove(name)
            place?.unpark()
        }
        do {
            let client = try await RelayClient.connect(
                to: origin, key: key, caFile: nil, loop: loop)
            defer { client.close() }
            try await Scenario(named: name)?.stay(client, phones: phones, loop: loop) {
                !self.wanted.contains(name)
            }
        } catch {
            // Also after an error of another kind: else it would be started again at once.
            troubles[name] = (error as? ProgramError)?.cause ?? "\(error)"
            wanted.remove(name)
        }
    }

    /// One row for each scenario, for the wall of phones.
    func write(into writer: inout JSONWriter) {
        writer.array("scenarios", of: Self.names) { writer, name in
            writer.object { self.write(name, into: &$0) }
        }
    }

    /// The members of a scenario's row.
    func write(_ name: String, into writer: inout JSONWriter) {
        writer.member("scenario", name)
        writer.member("runs", wanted.contains(name))
        let words = Self.words.first { $0.name == name }?.words ?? []
        writer.array("words", of: words) { $0.string($1) }
        if let trouble = troubles[name] { writer.member("trouble", trouble) }
    }
}
