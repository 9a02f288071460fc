import TomboloCore
import TomboloLoop

/// A scenario that goes on: its cards or widgets exist, and taps are answered, until the user stops
/// it. Then the cards end and the widgets are removed.
struct StayingScenario: Sendable {
    let name: String
    let client: RelayClient
    let phones: Int
    let loop: EpollLoop

    /// An activity is active for at most 8 hours (Apple, "Displaying live data with Live
    /// Activities"). Then the scenario replaces the card by a new one.
    static let cardLife = Duration.seconds(8 * 3_600)

    /// Runs a request that the relay may refuse, for example for a card that the user has ended.
    /// Ignores the refusal, so that the scenario goes on.
    static func passOver(_ deed: () async throws -> Void) async throws {
        do { try await deed() } catch let error as ProgramError {
            guard ![.unreachable, .unauthorized].contains(error.status) else { throw error }
        }
    }

    func run(until isStopped: @escaping @Sendable () -> Bool) async throws {
        repeat {
            guard let scenario = Scenario(named: name) else { return }
            if !scenario.places.isEmpty {
                var player = WidgetPlayer(scenario, client, phones: phones, loop: loop)
                try await player.stay(until: isStopped)
            } else if name == "runner" {
                var runner = RunnerScenario(client, phones: phones, loop: loop)
                try await runner.stay(until: isStopped)
            } else {
                var player = ScenarioPlayer(scenario, client, phones: phones, loop: loop)
                try await player.stay(until: isStopped)
            }
        } while !isStopped()
    }
}
