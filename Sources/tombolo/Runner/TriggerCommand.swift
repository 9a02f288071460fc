import TomboloCore
import TomboloJSON

/// `trigger`.
enum TriggerCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let phones = context.invocation.integer(.phones) ?? 0
        guard phones > 0, let duration = context.invocation.duration(.scenarioTime) else {
            throw ProgramError.usage(
                "a scenario needs a phone", remedy: "tombolo trigger runner --phones 3")
        }
        let client = try await RelayClient.connect(context)
        defer { client.close() }
        let scenario = RunnerScenario(client, phones: phones, loop: context.loop)
        let summary = try await scenario.run(for: duration)
        if OutputFormat(context) == .table {
            try context.terminal.write(summary.table(for: context.terminal).utf8)
        } else {
            try context.terminal.write(summary.json.bytes + [10])
        }
        guard summary.converged, summary.phones.count == phones else {
            throw ProgramError(
                "not every phone showed the last state within "
                    + "\(RunnerScenario.convergenceTimeout.components.seconds) s",
                remedy: "tombolo activity ls --type \(RunnerScenario.type) -o json")
        }
        return .succeeded
    }
}
