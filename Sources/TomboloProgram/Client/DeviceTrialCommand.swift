import Glibc
import TomboloCore
import TomboloJSON

/// `device trial`: leads a phone through twelve steps, and says for each what was seen.
enum DeviceTrialCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let device = context.invocation.arguments[0]
        let client = try await RelayClient.connect(context)
        defer { client.close() }
        let path = "/v1/devices/\(PathText.escaped(device))"
        let phone = try await client.view(path, name: device)
        let isTable = context.printsTable
        // Whether the file can be written is better known before twenty minutes with a phone.
        if let file = context.invocation.text(.trialOut) { try write([], to: file) }
        let trial = try await context.untilSignal { stop in
            var trial = try await DeviceTrial(device: device, phone, client, context, stop: stop)
            do {
                for step in TrialStep.allCases {
                    try await trial.carryOut(step)
                    // JSON is one object at the end; meanwhile a log shows how far it has come.
                    if let text = trial.rows.last.map(rowText) {
                        if isTable {
                            try context.terminal.print(text)
                        } else {
                            context.terminal.complain(text + "\n")
                        }
                    }
                }
            } catch {
                try await trial.cleanUp()
                throw error is CancellationError
                    ? ProgramError(
                        "the trial was interrupted, and has ended its card",
                        remedy: "a card that waits for \"Allow\" goes when you tap it") : error
            }
            try await trial.cleanUp()
            return trial
        }
        let report = try json(trial, phone: phone)
        if isTable {
            try context.terminal.print(pageRow(trial, phone: phone))
        } else {
            try context.terminal.write(line: report)
        }
        if let file = context.invocation.text(.trialOut) {
            try write(report.bytes + [10], to: file)
        }
        return trial.rows.contains { $0.verdict == .no } ? .failed : .succeeded
    }

    private static func write(_ bytes: [UInt8], to file: String) throws(ProgramError) {
        do {
            try FileBytes.write(bytes, to: file)
        } catch {
            throw ProgramError("\(file) cannot be written: \(error)")
        }
    }

    private static func rowText(_ row: DeviceTrial.Row) -> String {
        let verdict = row.verdict.rawValue
        let pad = String(repeating: " ", count: max(1, 10 - verdict.count))
        var lines = ["\(verdict)\(pad)\(row.step.rawValue), \(row.seconds) s: \(row.text)"]
        if row.verdict == .no {
            lines.append("          expected: \(row.step.expectation)")
            lines.append("          next: \(row.step.next)")
        }
        return lines.map(Printable.line).joined(separator: "\n")
    }

    /// A row for the table of `Protocol/app.md`.
    private static func pageRow(_ trial: DeviceTrial, phone: JSONView) -> String {
        let words = trial.rows.map { row in
            row.verdict == .yes ? "\(row.seconds) s" : row.verdict.rawValue
        }
        let what = [
            trial.isSimulated ? "simulated" : "", phone["os"]?.string ?? "",
            phone["app_version"]?.string ?? "", String(today.prefix(10)),
        ]
        return Printable.line("| " + (what + words).joined(separator: " | ") + " |")
    }

    private static var today: String { Instant(seconds: Int64(time(nil))).rfc3339 }

    /// The result. It has no token and no key.
    private static func json(_ trial: DeviceTrial, phone: JSONView) throws -> JSON {
        JSON.object { writer in
            writer.member("device", trial.device)
            writer.member("simulated", trial.isSimulated)
            for member in ["os", "app", "app_version", "environment", "class"] {
                if let text = phone[member]?.string { writer.member(member, text) }
            }
            writer.member("at", today)
            writer.member("complete", trial.rows.allSatisfy { $0.verdict == .yes })
            writer.objects("steps", trial.rows) { writer, row in
                writer.member("step", row.step.rawValue)
                writer.member("verdict", row.verdict.rawValue)
                writer.member("seconds", row.seconds)
                writer.member("text", row.text)
                writer.member("expected", row.step.expectation)
                if row.verdict == .no { writer.member("next", row.step.next) }
            }
        }
    }
}
