import TomboloJSON

/// Shows an activity and its destinations to people.
struct ActivityReport {
    private let view: JSONView

    init(_ view: JSONView) { self.view = view }

    func text(for terminal: Terminal) -> String {
        let fields = TextTable(of: view, without: "destinations").text(for: terminal)
        let destinations = view.items("destinations")
        // A destination of the past is only known by what Apple had accepted for it.
        let isPast = view["as_of"] != nil
        guard !destinations.isEmpty else { return fields }
        let table =
            isPast
            ? TextTable(Self.past, destinations)
            : TextTable(
                Self.present.map(\.title) + ["WAITS UNTIL"],
                destinations.map { destination in
                    Self.present.map { $0.text(of: destination) }
                        + [Self.until(destination["waiting"])]
                })
        return fields + "\n" + table.text(for: terminal)
            + (isPast ? "" : Self.reasons(destinations))
    }

    private static let past: [Column] = [
        Column("DEVICE", "device", "channel"), "route", Column("VERSION", "acknowledged_version"),
        Column("ACCEPTED AT", "acknowledged_at"), "result",
    ]

    private static let present: [Column] = [
        "device", "class", "route", Column("VERSION", "acknowledged_version"), "result",
        Column("ASKED", "frames.asked"), Column("SENT", "frames.sent"),
        Column("MERGED", "frames.merged"), Column("SKIPPED", "frames.skipped"),
    ]

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
