/// What each attention code and each alert means, and what to do: `deploy/runbook.md`, and pages
/// below `/problems/`.
package enum Runbook {
    /// A part of the runbook.
    private struct Part {
        /// The code, or the alert's name.
        let name: String
        let title: String
        let isSevere: Bool?
        let alert: String?
        let look: String?
        let command: String
        let text: String
    }

    private static let parts =
        AttentionRow.rows.map {
            Part(
                name: $0.code.rawValue, title: $0.title, isSevere: $0.isSevere, alert: $0.alert,
                look: $0.look, command: $0.command, text: $0.runbook)
        }
        + AlertRow.rows.map {
            Part(
                name: $0.name, title: $0.title, isSevere: nil, alert: $0.name, look: nil,
                command: $0.command, text: $0.runbook)
        }

    /// The path of the page about an alert rule: its `runbook_url`.
    package static func path(alert name: String) -> String { "/problems/\(name)" }

    /// The names of all alert rules that have a part, in the order of the runbook.
    package static let alerts = parts.compactMap(\.alert)

    /// The plain text about a code or an alert; nil if nothing has this name.
    package static func text(about name: String) -> String? {
        guard let part = parts.first(where: { $0.name == name || $0.alert == name }) else {
            return nil
        }
        let code = part.isSevere.map { _ in "attention code \(part.name)" }
        let about = [code, part.alert.map { "alert \($0)" }].compactMap(\.self)
        return PageFile.text(
            part.title, about.joined(separator: ", "),
            ["What to do": part.text, "Command": part.command])
    }

    /// The lines for the list of all pages.
    package static let list = parts.map { part in
        "\(path(alert: part.name))  \(part.isSevere == nil ? "alert" : "attention")  \(part.title)\n"
    }.joined()

    /// The whole `deploy/runbook.md`.
    package static let markdown = """
        # Runbook

        What each entry of the console's first screen and each alert means, and what to do. It is
        made of `attention` and `alerts` in [`Protocol/pages.json`](../Protocol/pages.json):
        `TOMBOLO_WRITE_RUNBOOK=1 swift test --filter RunbookTests` writes it. A running relay
        answers each part at `/problems/NAME`, by its code or by the name of its alert. What is
        severe comes first on the screen, and turns the dot beside the key red. `{activity}` and
        other names in braces are filled in there.

        ## What needs attention

        \(parts.filter { $0.isSevere != nil }.map(section).joined(separator: "\n\n"))

        ## Other alerts

        \(parts.filter { $0.isSevere == nil }.map(section).joined(separator: "\n\n"))

        """

    private static func section(_ part: Part) -> String {
        var facts: [String] = []
        if let severe = part.isSevere { facts.append(severe ? "severe" : "not severe") }
        if part.isSevere != nil, let alert = part.alert { facts.append("alert `\(alert)`") }
        if let look = part.look { facts.append("look at `\(look)`") }
        facts.append("`\(part.command)`")
        return "### \(part.name)\n\n**\(part.title)** \(part.text)\n\n"
            + facts.joined(separator: " · ")
    }
}
