import TomboloCore
import TomboloJSON

/// What one phone received in a scenario, according to the relay and to the phone's own report.
struct PhoneSummary: Hashable, Sendable {
    var phone: String
    var budgetClass: String
    /// The type of its card, if the scenario compares several types.
    var type: String?
    var asked: Int64
    var sent: Int64
    var merged: Int64
    var skipped: Int64
    /// Frames per second, from the first to the last frame; 0 if there are fewer than two.
    var framesPerSecond: Double
    /// True if the phone shows the activity's last state.
    var isFinal: Bool
    /// The number of different pictures that it drew; nil if there are no simulated phones.
    var pictures: Int?
    /// The pictures in order; empty if the scenario has no steps.
    var drawn: [JSON] = []

    /// Reads one element of the member `destinations` of an activity.
    init(_ destination: JSONView) {
        phone = destination["device"]?.string ?? ""
        budgetClass = destination["class"]?.string ?? ""
        let frames = destination["frames"]
        asked = frames?["asked"]?.integer ?? 0
        sent = frames?["sent"]?.integer ?? 0
        merged = frames?["merged"]?.integer ?? 0
        skipped = frames?["skipped"]?.integer ?? 0
        let shown = destination["shown"]
        isFinal = shown?["matches"]?.bool ?? false
        framesPerSecond = Self.rate(
            shown?["count"]?.integer ?? 0,
            from: shown?["first_at"]?.string.flatMap(Instant.init(rfc3339:)),
            to: shown?["last_at"]?.string.flatMap(Instant.init(rfc3339:)))
    }

    fileprivate func write(into writer: inout JSONWriter) {
        writer.member("phone", phone)
        writer.member("class", budgetClass)
        if let type { writer.member("type", type) }
        writer.member("asked", asked)
        writer.member("sent", sent)
        writer.member("merged", merged)
        writer.member("skipped", skipped)
        writer.member("fps", framesPerSecond)
        if let pictures { writer.member("pictures", pictures) }
        writer.member("final", isFinal)
        if !drawn.isEmpty { writer.array("drawn", of: drawn) { $0.raw($1) } }
    }

    /// The rate, rounded to hundredths, so that parsing the output gives the same value.
    private static func rate(_ count: Int64, from first: Instant?, to last: Instant?) -> Double {
        guard count >= 2, let first, let last, last > first else { return 0 }
        return (Double(count - 1) / (last - first).seconds * 100).rounded() / 100
    }
}

/// What one widget showed in a scenario.
struct WidgetSummary: Hashable, Sendable {
    var place: Scenario.Place
    var fetches: Int64
    /// The states that the widget showed, in order.
    var drawn: [JSON]
}

/// The last line of `trigger`.
struct ScenarioSummary: Hashable, Sendable {
    /// The state that every phone or widget should show at the end of a step, and whether all did.
    struct Step: Hashable, Sendable {
        var name: String
        var shows: JSON?
        var isHeld: Bool
    }

    var scenario: String
    /// The phones of a scenario of cards; else empty.
    var phones: [PhoneSummary] = []
    /// The widgets of a scenario of widgets; else empty.
    var widgets: [WidgetSummary] = []
    var steps: [Step] = []

    var isOfWidgets: Bool { !widgets.isEmpty }

    /// True if every step reached its state, every phone shows the last state, and it drew at least
    /// two different pictures. A phone whose picture never changed showed no animation.
    var converged: Bool {
        (isOfWidgets || !phones.isEmpty) && phones.allSatisfy(\.isFinal)
            && steps.allSatisfy(\.isHeld) && haveMoved
    }

    /// True if every phone drew at least two different pictures.
    var haveMoved: Bool { phones.allSatisfy { ($0.pictures ?? 2) >= 2 } }

    var json: JSON {
        JSON.object { writer in
            writer.member("scenario", scenario)
            writer.member("converged", converged)
            if isOfWidgets {
                writer.objects("widgets", widgets) { writer, widget in
                    writer.member("widget", widget.place.name)
                    writer.member("phone", widget.place.phone)
                    writer.member("family", widget.place.family)
                    writer.member("fetches", widget.fetches)
                    writer.array("drawn", of: widget.drawn) { $0.raw($1) }
                }
            } else {
                writer.objects("phones", phones) { $1.write(into: &$0) }
            }
            guard !steps.isEmpty else { return }
            writer.objects("steps", steps) { writer, step in
                writer.member("step", step.name)
                if let shows = step.shows { writer.member("shows", shows) }
                writer.member("held", step.isHeld)
            }
        }
    }

    func table(for terminal: Terminal) -> String {
        let table = isOfWidgets ? tableOfWidgets : tableOfPhones
        guard !steps.isEmpty else { return table.text(for: terminal) }
        let rows = steps.map { step in
            let shows = step.shows.map { String(decoding: JSON.line($0.bytes), as: UTF8.self) }
            return [step.name, shows ?? "", step.isHeld ? "yes" : "no"]
        }
        let shown = isOfWidgets ? "WIDGETS SHOW" : "PHONES SHOW"
        return TextTable(["STEP", shown, "HELD"], rows).text(for: terminal) + "\n"
            + table.text(for: terminal)
    }

    private var tableOfPhones: TextTable {
        let titles = [
            "PHONE", "CLASS", "ASKED", "SENT", "MERGED", "SKIPPED", "FPS", "PICTURES", "FINAL",
        ]
        let rows = phones.map { phone in
            [
                phone.phone, phone.budgetClass, "\(phone.asked)", "\(phone.sent)",
                "\(phone.merged)", "\(phone.skipped)", "\(phone.framesPerSecond)",
                phone.pictures.map { "\($0)" } ?? "", phone.isFinal ? "yes" : "no",
            ]
        }
        return TextTable(titles, rows)
    }

    private var tableOfWidgets: TextTable {
        let rows = widgets.map { widget in
            [
                widget.place.name, widget.place.phone, widget.place.family,
                "\(widget.fetches)", "\(widget.drawn.count)",
            ]
        }
        return TextTable(["WIDGET", "PHONE", "FAMILY", "FETCHES", "PICTURES"], rows)
    }
}
