import TomboloJSON

/// `config reload`: makes the running relay read its configuration again. Prints each result.
enum ReloadCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let answer = try await context.reply(
            to: .write(context, "POST", "/v1/configuration/reload"), name: nil)
        let lines = try answer.document().root.items("lines")
        try context.present(answer) { _ in
            for line in lines { try context.terminal.print(text(line)) }
        }
        let results = lines.map { $0["result"]?.string }
        guard results.contains("refused") else {
            return results.contains("needs_restart") ? .lint : .succeeded
        }
        return results.contains("applied") ? .partly : .failed
    }

    private static let words = [
        "applied": "applied ", "needs_restart": "restart ", "refused": "refused ",
    ]

    private static func text(_ line: JSONView) -> String {
        let word = words[line["result"]?.string ?? ""] ?? "notice  "
        let remedy = line["try"]?.string.map { "\n  try: \($0)" } ?? ""
        return "\(word)  \(line["message"]?.string ?? "")\(remedy)"
    }
}
