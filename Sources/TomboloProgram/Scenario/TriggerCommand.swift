import Glibc
import TomboloCore
import TomboloJSON

/// `trigger`: plays a scenario.
enum TriggerCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let phones = context.invocation.integer(.phones) ?? 0
        guard phones > 0, let duration = context.invocation.duration(.scenarioTime) else {
            throw ProgramError.usage(
                "a scenario needs a phone", remedy: "tombolo trigger runner --phones 3")
        }
        let name = context.invocation.argument(0) ?? "runner"
        if context.invocation.isGiven(.scenarioSteps) {
            switch name {
            case "profile":
                return try write(try ProfileMondays.run(), context, ProfileMondays.table)
            case "door": return try write(try DoorTaps.run(), context, DoorTaps.table)
            default: break
            }
        }
        // The command line accepts no other names.
        guard let scenario = Scenario(named: name) else { return .failed }
        let client = try await RelayClient.connect(context)
        defer { client.close() }
        let stage = ScenarioStage(scenario, client, phones: phones, loop: context.loop)
        guard context.invocation.isGiven(.stay) else {
            return try await play(stage, duration, context)
        }
        // A signal ends the scenario in order: its activities and widgets are removed.
        return try await context.untilSignal { stop in
            let status = try await play(stage, duration, context)
            guard !stop.isSet else { return status }
            context.terminal.complain("\(name) stays, and answers taps, until Ctrl-C\n")
            try await scenario.stay(client, phones: phones, loop: context.loop) { stop.isSet }
            return status
        }
    }

    /// Throws an error that names the failed step.
    private static func play(
        _ stage: ScenarioStage, _ duration: Span, _ context: CommandContext
    ) async throws -> ExitStatus {
        let summary: ScenarioSummary
        // Without `--steps`, the cat runs for the given time.
        if stage.scenario.name != "runner" || context.invocation.isGiven(.scenarioSteps) {
            var player = stage.scenario.player(on: stage)
            summary = try await player.run()
        } else {
            var runner = RunnerPlayer(stage)
            summary = try await runner.run(for: duration)
        }
        if context.printsTable {
            try context.terminal.write(summary.table(for: context.terminal).utf8)
        } else {
            try context.terminal.write(line: summary.json)
        }
        let isOfWidgets = summary.isOfWidgets
        guard summary.converged, isOfWidgets || summary.phones.count >= stage.phones.count else {
            let step = summary.steps.last { !$0.isHeld }.map { "what \"\($0.name)\" comes to" }
            throw ProgramError(
                "not every \(isOfWidgets ? "widget" : "phone") showed "
                    + "\(step ?? "the last state") within "
                    + "\(ScenarioStage.convergenceTimeout.components.seconds) s",
                remedy: isOfWidgets ? "tombolo phone ls" : "tombolo doctor")
        }
        return .succeeded
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
}
