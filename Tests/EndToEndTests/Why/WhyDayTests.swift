import Testing
import TomboloJSON

@testable import TomboloProgram

/// A bad day: much goes wrong on purpose, and `tombolo why` names each cause first: at once, after
/// the relay was killed, and an hour later.
@Suite(.serialized) struct WhyDayTests {
    private typealias Asked = (row: WhyRow, question: WhyBench.Question)

    private static let atOnce = "at once"
    private static let later = "an hour later"

    /// Asks, and answers the commands that the operator is given to try next.
    private func expectCause(
        _ asked: Asked, _ bench: WhyBench, _ when: String
    ) throws -> Set<[String]> {
        var commands: Set<[String]> = []
        let result = try bench.why(asked.question, "-o", "json")
        try #require(result.status == 0, "\(asked.row.cause), \(when): \(result.errors)")
        let root = try json(result.output)
        let suspect = root["suspects"]?.elements.first { _ in true }
        let report = try bench.why(asked.question, "-o", "table").output
        let seen = "\(asked.row.cause), \(when): \(report)"
        let code = suspect?["code"]?.string ?? "none"
        if let fresh = asked.row.atOnce, when != Self.later {
            // After a kill the minute may be over.
            let isOver = when != Self.atOnce && asked.row.codes.contains(code)
            #expect(isOver || fresh.codes.contains(code) && report.contains(fresh.text), "\(seen)")
        } else {
            #expect(asked.row.codes.contains(code) && report.contains(asked.row.text), "\(seen)")
        }
        for command in root["try"]?.elements.compactMap(\.string) ?? [] {
            commands.insert(command.split(separator: " ").map { String($0) })
        }
        return commands
    }

    /// What is proposed can be typed as it is. Two want to know where the configuration is.
    private func expectToRun(_ commands: Set<[String]>, on bench: WhyBench) throws {
        #expect(Set(commands.map { $0.prefix(3) }).count > 5)
        for words in commands where !words.contains("doctor") && !words.contains("config") {
            let dry = words.contains("resume") ? ["--dry-run"] : []
            let run = try bench.relay.tombolo(Array(words.dropFirst()) + dry)
            #expect(run.status == 0, "\(words): \(run.errors)")
        }
    }

    @Test
    func `after a bad day why names each cause first, after a kill and an hour later too`() throws {
        let bench = try WhyBench()
        var all: [Asked] = []
        var commands: Set<[String]> = []
        for row in WhyRow.rows {
            let question = try row.happen(bench)
            commands.formUnion(try expectCause((row, question), bench, Self.atOnce))
            all.append((row, question))
        }

        try expectToRun(commands, on: bench)

        // A change waits while the relay stops.
        try bench.card("stopped", budget: "standard")
        try bench.update("stopped", lap: 1, "low", wait: 5)
        try bench.update("stopped", lap: 2, "low")
        try bench.stopRelay()
        let stopped = WhyBench.Question(
            activity: "stopped-card", device: "stopped", asked: try bench.moment())
        try bench.startRelay()
        let stop = WhyRow("a stop of the relay", ["relay_stopped"], "did not run") { _ in stopped }
        _ = try expectCause((stop, stopped), bench, Self.atOnce)
        all.append((stop, stopped))

        // A push is on its way when the relay is killed.
        try bench.card("killed", token: "ffee")
        try bench.fault(#"{"token":"ffee","no_answer":true,"times":1}"#)
        try bench.update("killed", lap: 1)
        try bench.killRelay()
        let killed = WhyBench.Question(
            activity: "killed-card", device: "killed", asked: try bench.moment())
        let kill = WhyRow("a kill of the relay", ["relay_killed"], "killed or crashed") { _ in
            killed
        }
        all.append((kill, killed))
        try bench.appleComes()
        try bench.startRelay()
        for asked in all { _ = try expectCause(asked, bench, "after a kill") }

        try bench.killRelay()
        try bench.startRelay(later: "+1h")
        for asked in all { _ = try expectCause(asked, bench, Self.later) }
    }
}
