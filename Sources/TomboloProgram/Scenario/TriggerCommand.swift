import Glibc
import TomboloCore
import TomboloJSON
import TomboloLoop

/// `trigger`: plays a scenario.
enum TriggerCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let phones = context.invocation.integer(.phones) ?? 0
        guard phones > 0, let duration = context.invocation.duration(.scenarioTime) else {
            throw ProgramError.usage(
                "a scenario needs a phone", remedy: "tombolo trigger runner --phones 3")
        }
        if context.invocation.isGiven(.scenarioSteps) {
            switch context.invocation.argument(0) {
            case "profile":
                return try write(try ProfileMondays.run(), context, ProfileMondays.table)
            case "door": return try write(try DoorTaps.run(), context, DoorTaps.table)
            default: break
            }
        }
        let client = try await RelayClient.connect(context)
        defer { client.close() }
        let name = context.invocation.argument(0) ?? "runner"
        guard context.invocation.isGiven(.stay) else {
            return try await play(name, client, phones: phones, duration, context)
        }
        // A signal ends the scenario in order: its activities and widgets are removed.
        return try await context.untilSignal { stop in
            let status = try await play(name, client, phones: phones, duration, context)
            guard !stop.isSet else { return status }
            context.terminal.complain("\(name) stays, and answers taps, until Ctrl-C\n")
            try await StayingScenario(
                name: name, client: client, phones: phones, loop: context.loop
            ).run { stop.isSet }
            return status
        }
    }

    private static func play(
        _ name: String, _ client: RelayClient, phones: Int, _ duration: Span,
        _ context: CommandContext
    ) async throws -> ExitStatus {
        let scenario = Scenario(named: name)
        if let scenario, !scenario.places.isEmpty {
            var player = WidgetPlayer(scenario, client, phones: phones, loop: context.loop)
            let summary = try await player.run()
            return try conclude(
                context, json: summary.json, table: summary.table(for: context.terminal),
                isDone: summary.converged, summary.steps, who: "widget",
                remedy: "tombolo phone ls")
        }
        let summary: ScenarioSummary
        // Without `--steps`, the cat runs for the given time.
        if let scenario, name != "runner" || context.invocation.isGiven(.scenarioSteps) {
            var player = ScenarioPlayer(scenario, client, phones: phones, loop: context.loop)
            summary = try await player.run()
        } else {
            var scenario = RunnerScenario(client, phones: phones, loop: context.loop)
            summary = try await scenario.run(for: duration)
        }
        return try conclude(
            context, json: summary.json, table: summary.table(for: context.terminal),
            isDone: summary.converged && summary.phones.count >= phones, summary.steps,
            who: "phone", remedy: "tombolo doctor")
    }

    /// Prints the results of a run on virtual time, which needs no relay.
    private static func write(
        _ cases: [JSON], _ context: CommandContext, _ table: ([JSON], Terminal) -> String
    ) throws -> ExitStatus {
        if context.printsTable {
            try context.terminal.write(table(cases, context.terminal).utf8)
        } else {
            for line in cases { try context.terminal.write(line: line) }
        }
        return .succeeded
    }

    /// Prints the summary of a run. Throws an error that names the failed step.
    private static func conclude(
        _ context: CommandContext, json: JSON, table: String, isDone: Bool,
        _ steps: [ScenarioSummary.Step], who: String, remedy: String
    ) throws -> ExitStatus {
        if context.printsTable {
            try context.terminal.write(table.utf8)
        } else {
            try context.terminal.write(line: json)
        }
        guard isDone else {
            let step = steps.last { !$0.isHeld }.map { "what \"\($0.name)\" comes to" }
            throw ProgramError(
                "not every \(who) showed \(step ?? "the last state") within "
                    + "\(RunnerScenario.convergenceTimeout.components.seconds) s",
                remedy: remedy)
        }
        return .succeeded
    }
}
