import TomboloCore
import TomboloJSON

/// Results of a replay with the configured grants and with others.
struct BudgetSimulateReport {
    /// The results with the configured grants, then with those of the command line.
    let outcomes: [GrantReplayOutcome]
    let budgets: [Budgets]
    let budgetClass: BudgetClass?
    let speed: Double

    private static let names = ["configured", "simulated"]

    func print(_ context: CommandContext) throws {
        guard context.printsTable else { return try context.terminal.write(line: json) }
        guard let first = outcomes.first else { return }
        try context.terminal.print(
            "\(first.events) events of \(first.activities) activities in \(first.span.roundedText) "
                + "to \(first.devices) devices"
                + (first.setAside > 0 ? "; \(first.setAside) events were set aside" : ""))
        try context.terminal.write(
            TextTable(
                ["", "CONFIGURED", "SIMULATED"], rows.map { [$0.name] + outcomes.map($0.text) }))
    }

    private var rows: [(name: String, text: (GrantReplayOutcome) -> String)] {
        [
            ("pushes", { "\($0.pushes + $0.framePushes)" }),
            ("  at priority 10", { "\($0.highPriority)" }),
            ("  at priority 5", { "\($0.lowPriority)" }),
            ("events sent", { "\($0.decisions.sent)" }),
            ("  merged", { "\($0.decisions.merged)" }),
            ("  skipped", { "\($0.decisions.skipped)" }),
            ("  expired", { "\($0.decisions.expired)" }),
            ("  waiting", { "\($0.waiting)" }),
            ("frames asked", { "\($0.frames.asked)" }),
            ("  sent", { "\($0.frames.sent)" }),
            ("  merged", { "\($0.frames.merged)" }),
            ("  skipped", { "\($0.frames.skipped)" }),
            ("lag p50", { Self.text($0.lags.quantile(0.5)) }),
            ("lag p99", { Self.text($0.lags.quantile(0.99)) }),
            ("lag worst", { Self.text($0.lags.count > 0 ? $0.lags.worst : nil) }),
        ]
    }

    private static func text(_ span: Span?) -> String { span?.roundedText ?? "-" }

    private var json: JSON {
        JSON.object { writer in
            if let first = outcomes.first {
                writer.member("events", first.events)
                writer.member("activities", first.activities)
                writer.member("devices", Int64(first.devices))
                writer.member("set_aside", first.setAside)
                writer.member("seconds", first.span.seconds)
            }
            writer.member("speed", speed)
            for (index, outcome) in outcomes.enumerated() {
                writer.object(Self.names[index]) { writer in
                    if index == 1, let budgetClass { writer.member("class", budgetClass.name) }
                    write(outcome, into: &writer)
                    writer.object("budgets") { budgets[index].write(into: &$0) }
                }
            }
        }
    }

    private func write(_ outcome: GrantReplayOutcome, into writer: inout JSONWriter) {
        writer.member("pushes", outcome.pushes + outcome.framePushes)
        writer.member("priority_10", outcome.highPriority)
        writer.member("priority_5", outcome.lowPriority)
        writer.object("events") { writer in
            writer.member("sent", outcome.decisions.sent)
            writer.member("merged", outcome.decisions.merged)
            writer.member("skipped", outcome.decisions.skipped)
            writer.member("expired", outcome.decisions.expired)
            writer.member("waiting", outcome.waiting)
        }
        writer.object("frames") { writer in
            writer.member("asked", outcome.frames.asked)
            writer.member("sent", outcome.frames.sent)
            writer.member("merged", outcome.frames.merged)
            writer.member("skipped", outcome.frames.skipped)
        }
        writer.object("lag_s") { writer in
            let lags = outcome.lags
            for (name, lag) in [
                ("p50", lags.quantile(0.5)), ("p99", lags.quantile(0.99)),
                ("worst", lags.count > 0 ? lags.worst : nil),
            ] {
                if let lag { writer.member(name, lag.seconds) }
            }
        }
    }
}
