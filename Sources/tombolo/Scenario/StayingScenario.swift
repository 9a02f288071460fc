import TomboloCore
import TomboloLoop

/// A scenario whose producer stays: cards or widgets are there, and each tap has an answer, until
/// somebody stops it. Then the cards end and the widgets go.
struct StayingScenario: Sendable {
    let name: String
    let client: RelayClient
    let phones: Int
    let loop: EpollLoop

    /// An activity is active for at most 8 hours (Apple, "Displaying live data with Live
    /// Activities"): then another card takes its place.
    static let cardLife = Duration.seconds(8 * 3_600)

    /// Does what the relay may refuse by now, such as a change of a card that somebody has ended:
    /// that is no reason for the producer to go.
    static func passOver(_ deed: () async throws -> Void) async throws {
        do { try await deed() } catch let error as ProgramError {
            guard ![.unreachable, .unauthorized].contains(error.status) else { throw error }
        }
    }

    func run(until isStopped: @escaping @Sendable () -> Bool) async throws {
        repeat {
            if let scenario = WidgetScenario(named: name) {
                var player = WidgetPlayer(scenario, client, phones: phones, loop: loop)
                try await player.stay(until: isStopped)
            } else if name == "runner" {
                var runner = RunnerScenario(client, phones: phones, loop: loop)
                try await runner.stay(until: isStopped)
            } else if let scenario = Scenario(named: name) {
                var player = ScenarioPlayer(scenario, client, phones: phones, loop: loop)
                try await player.stay(until: isStopped)
            }
        } while !isStopped()
    }
}
