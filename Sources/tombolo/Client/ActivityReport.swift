import TomboloJSON

/// An activity and its destinations, for people.
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
        var table = TextTable([
            "DEVICE", "CLASS", "ROUTE", "VERSION", "RESULT", "ASKED", "SENT", "MERGED", "SKIPPED",
            "WAITING",
        ])
        for destination in destinations.elements {
            let cells = ["device", "class", "route", "acknowledged_version", "result"].map { name in
                destination[name].map(Cell.text) ?? ""
            }
            let frames = ["asked", "sent", "merged", "skipped"].map { name in
                destination["frames"]?[name].map(Cell.text) ?? ""
            }
            table.add(cells + frames + [Self.waiting(destination["waiting"])])
        }
        return fields.text(for: terminal) + "\n" + table.text(for: terminal)
    }

    private static func waiting(_ view: JSONView?) -> String {
        guard let view, !view.isNull else { return "" }
        let until = view["until"]?.string.map { " until \($0)" } ?? ""
        return (view["reason_text"]?.string ?? view["reason"]?.string ?? "waiting") + until
    }
}
