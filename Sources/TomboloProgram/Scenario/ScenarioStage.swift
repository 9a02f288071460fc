import TomboloCore
import TomboloCrypto
import TomboloJSON
import TomboloLoop

/// A scenario, and the relay on whose phones it is played.
struct ScenarioStage: Sendable {
    typealias Deed = nonisolated(nonsending) () async throws -> Void

    let scenario: Scenario
    let client: RelayClient
    let loop: EpollLoop
    let phones: [String]
    /// The activity or the kind of the widgets. It is new, because a start with the id of an ended
    /// activity would restart that activity, and so that widgets of other runs do not matter.
    let id: String
    /// True while the scenario stays: times are those of now, and what comes later is sent.
    var isStaying = false
    private var actions = ActionReader()

    /// Time limit for the phones to register. On a busy machine this takes longer.
    private static let arrivalTime = Duration.seconds(10)
    /// Time limit for the phones to show the last state after the end. A phone of the slowest class
    /// waits 15 s for a push, and again if the push is lost.
    static let convergenceTimeout = Duration.seconds(45)
    static let pollInterval = Duration.milliseconds(100)
    /// An activity is active for at most 8 hours (Apple, "Displaying live data with Live
    /// Activities"). Then the scenario replaces the card by a new one.
    static let cardLife = Duration.seconds(8 * 3_600)

    init(_ scenario: Scenario, _ client: RelayClient, phones: Int, loop: EpollLoop) {
        (self.scenario, self.client, self.loop) = (scenario, client, loop)
        self.phones = (1...phones).map { "phone-\($0)" }
        id = "\(scenario.name)-\(Hex.encode(RandomBytes.make(4)))"
    }

    func perform(
        _ method: String, _ path: String, _ body: String = "", fields: RelayRequest.Fields = [],
        name: String?
    ) async throws {
        _ = try await client.send(
            RelayRequest(method, path, fields: fields, body: Array(body.utf8)), name: name)
    }

    /// Runs a request that the relay may refuse, for example for a card that the user has ended.
    /// Ignores the refusal, so that the scenario goes on.
    static func passOver(_ deed: Deed) async throws {
        do { try await deed() } catch let error as ProgramError {
            guard ![.unreachable, .unauthorized].contains(error.status) else { throw error }
        }
    }

    /// Waits until a phone has registered itself.
    ///
    /// - Parameter hasWidgets: true if it must also have registered its token for widgets, as
    ///   earlier pushes could not reach it.
    func meet(_ phone: String, hasWidgets: Bool) async throws {
        let path = "/v1/devices/\(PathText.escaped(phone))"
        var missing = ProgramError(
            "\(phone) has no token for its widgets", remedy: "tombolo device show \(phone)")
        let isThere: Bool? = try await loop.poll(
            every: Self.pollInterval, within: Self.arrivalTime
        ) {
            do throws(ProgramError) {
                let tokens = try await client.view(path, name: phone).items("tokens")
                let isReady = !hasWidgets || tokens.contains { $0["name"]?.string == "widget" }
                return isReady ? true : nil
            } catch {
                guard error.status == .notFoundOrConflict else { throw error }
                if !hasWidgets { missing = error }
                return nil
            }
        }
        guard isThere == true else { throw missing }
    }

    /// Registers the scenario's types with the relay, which the producer does first.
    func registerTypes() async throws {
        for type in scenario.types {
            let body = String(decoding: type.body.bytes, as: UTF8.self)
            try await perform("PUT", "/v1/types/\(type.name)", body, name: type.name)
        }
    }

    /// The users' actions that were not returned before.
    mutating func newActions() async throws -> [JSONView] { try await actions.new(client) }
}
