import TomboloCore
import TomboloJSON
import TomboloSimulator

/// What happens on Mondays at 06:00 in scenario `profile`, on virtual time. There is one widget,
/// and a producer that sends the week's rank when the relay asks for it.
enum ProfileMondays {
    /// A time zone, the local time at which the widget is added, and the number of days to watch.
    private struct Case {
        var name: String
        var zone: String
        var begins: String
        var days: Int64
    }

    private static let cases = [
        Case(
            name: "asked on a Sunday, over the end of summer time", zone: "Europe/Berlin",
            begins: "2026-10-18T12:00:00+02:00", days: 23),
        Case(
            name: "at exactly 06:00:00 on a Monday", zone: "Europe/Berlin",
            begins: "2026-11-02T06:00:00+01:00", days: 8),
        Case(
            name: "over the beginning of summer time", zone: "Europe/Berlin",
            begins: "2027-03-21T23:59:59+01:00", days: 16),
        Case(
            name: "by the clock of another zone", zone: "America/New_York",
            begins: "2026-10-25T12:00:00-04:00", days: 16),
    ]

    /// The table that `trigger profile --steps` prints for people.
    static func table(of cases: [JSON], for terminal: Terminal) -> String {
        cases.map { json in
            let view = json.document.root
            let rows = view.items("seen").map { line in
                let what =
                    if let state = line["shows"] {
                        "shows \(state.json)"
                    } else if let cause = line["fetched"]?.string {
                        "fetches (\(cause))"
                    } else {
                        "the relay asks the producer"
                    }
                return [line["day"]?.string ?? "", line["local"]?.string ?? "", what]
            }
            let table = TextTable(["DAY", "BY THE PHONE'S CLOCK", "WHAT"], rows)
            let title = "\(view["zone"]?.string ?? ""), \(view["case"]?.string ?? "")"
            return title + "\n" + table.text(for: terminal)
        }.joined(separator: "\n")
    }

    /// One JSON object for each case.
    static func run() throws -> [JSON] {
        try cases.map { item in
            let lines = try watch(item)
            return JSON.object { writer in
                writer.member("case", item.name)
                writer.member("zone", item.zone)
                writer.array("seen", of: lines) { $0.raw($1) }
            }
        }
    }

    /// Returns everything that the widget showed, with its time, and when the producer was asked.
    private static func watch(_ item: Case) throws -> [JSON] {
        guard let begins = Instant(rfc3339: item.begins) else {
            preconditionFailure("\(item.begins) is a time")
        }
        let home = try VirtualHome(user: "u1", zone: item.zone, begins: begins)
        var lines: [JSON] = []
        var rank = 9
        /// The producer puts the newest rank. The next two Mondays have entries too.
        func putRank() throws {
            try home.put(
                #"{"subject":{"user":"u1"},"content":{"name":"Ada","rank":\#(rank)},"#
                    + #""schedule":{"weekly":{"on":"monday","at":"06:00","zone":"device"},"#
                    + #""count":2}}"#, kind: "profile")
        }
        home.saw = { sight in
            switch sight {
            case .fact(let fact) where fact.kind == "timeline.due":
                lines.append(line(home) { $0.member("asked", true) })
                // The rank improves by one each week.
                rank -= 1
                try putRank()
            case .fetched(let widget):
                lines.append(line(home) { $0.member("fetched", widget.fetching?.rawValue ?? "") })
            case .drawn(let widget):
                guard let entry = widget.current else { return }
                lines.append(
                    line(home) {
                        $0.name("shows")
                        $0.raw(entry.content)
                    })
            case .fact, .tapped: break
            }
        }
        try putRank()
        try home.place(Widget.Key(kind: "profile", family: .systemSmall))
        try home.advance(to: begins + .hours(24 * item.days))
        return lines
    }

    /// One line: the local day and time on the phone, and what happened.
    private static func line(
        _ home: VirtualHome, _ write: (inout JSONWriter) -> Void
    ) -> JSON {
        let local = home.now + home.rules.offset(at: home.now)
        return JSON.object { writer in
            // Unix time 0 is a Thursday.
            let days = [
                "thursday", "friday", "saturday", "sunday", "monday", "tuesday", "wednesday",
            ]
            writer.member("day", days[Int(local.seconds / 86_400 % 7)])
            writer.member("local", String(local.rfc3339InSeconds.dropLast()))
            writer.member("at", home.now.rfc3339)
            write(&writer)
        }
    }
}
