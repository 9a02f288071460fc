import TomboloJSON

/// Shows an activity and its destinations to people.
struct ActivityReport {
    private let view: JSONView

    init(_ view: JSONView) { self.view = view }

    func text(for terminal: Terminal) -> String {
        var fields = TextTable(["FIELD", "VALUE"])
        for (name, value) in view.members where name != "destinations" {
            fields.add([name, Cell.text(value)])
        }
        guard let destinations = view["destinations"], destinations.count > 0 else {
            return fields.text(for: terminal)
        }
        if view["as_of"] != nil {
            return fields.text(for: terminal) + "\n" + Self.past(destinations).text(for: terminal)
        }
        var table = TextTable([
            "DEVICE", "CLASS", "ROUTE", "VERSION", "RESULT", "ASKED", "SENT", "MERGED", "SKIPPED",
            "WAITS UNTIL",
        ])
        for destination in destinations.elements {
            let cells = ["device", "class", "route", "acknowledged_version", "result"].map { name in
                destination[name].map(Cell.text) ?? ""
            }
            let frames = ["asked", "sent", "merged", "skipped"].map { name in
                destination["frames"]?[name].map(Cell.text) ?? ""
            }
            table.add(cells + frames + [Self.until(destination["waiting"])])
        }
        return fields.text(for: terminal) + "\n" + table.text(for: terminal)
            + Self.reasons(Array(destinations.elements))
    }

    private static func past(_ destinations: JSONView) -> TextTable {
        var table = TextTable(["DEVICE", "ROUTE", "VERSION", "ACCEPTED AT", "RESULT"])
        for destination in destinations.elements {
            let name = destination["device"] ?? destination["channel"]
            let cells = ["route", "acknowledged_version", "acknowledged_at", "result"].map { name in
                destination[name].map(Cell.text) ?? ""
            }
            table.add([name.map(Cell.text) ?? ""] + cells)
        }
        return table
    }

    private static func until(_ waiting: JSONView?) -> String {
        guard let waiting, !waiting.isNull else { return "" }
        return waiting["until"]?.string ?? "not known"
    }

    /// Lists why destinations wait. Each reason has a line of its own, because a sentence is too
    /// long for a table cell.
    static func reasons(_ destinations: [JSONView]) -> String {
        var reasons: [(text: String, first: String, count: Int)] = []
        for destination in destinations {
            let waiting = destination["waiting"]
            guard let text = waiting?["reason_text"]?.string ?? waiting?["reason"]?.string
            else { continue }
            if let index = reasons.firstIndex(where: { $0.text == text }) {
                reasons[index].count += 1
            } else {
                let name = destination["device"]?.string ?? destination["channel"]?.string
                reasons.append((text, name ?? "", 1))
            }
        }
        return reasons.map { text, first, count in
            let wait = count > 1 ? " and \(count - 1) more wait" : " waits"
            return "\n" + Printable.line("\(first)\(wait): \(text)") + "\n"
        }.joined()
    }
}
