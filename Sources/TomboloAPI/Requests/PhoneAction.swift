package import TomboloCore
package import TomboloJSON

/// The body of `POST /v1/phones/{phone}`: an action of user, system or app on a simulated phone.
package struct PhoneAction: Sendable {
    /// The values of `do`, and whether each needs an activity, because it acts on a card.
    private static let deeds: [(String, ofCard: Bool)] = [
        ("front", false), ("back", false), ("switcher", false), ("control-center", false),
        ("touch", false), ("status-bar", false),
        ("lock", false), ("unlock", false), ("offline", false), ("online", false),
        ("terminate", false), ("launch", false), ("restart", false), ("reinstall", false),
        ("swipe", true), ("allow", false), ("deny", false), ("rotate", true), ("update", true),
        ("listen", true), ("low-power", false), ("watch", false), ("trouble", false),
        ("budget", false), ("tap", false),
        ("widget-add", false), ("widget-rm", false), ("widget-reload", false),
        ("widget-gallery", false),
    ]

    /// The other members, each with the actions that accept it.
    private static let members: [(String, [String])] =
        [
            ("link", ["tap"]), ("intent", ["tap"]), ("parameters", ["tap"]),
            ("state", ["update", "listen"]), ("channel", ["listen"]), ("type", ["listen"]),
            ("on", ["status-bar", "low-power", "watch", "trouble"]),
            ("x", ["touch"]), ("y", ["touch"]),
            ("kind", ["trouble"]),
            ("widget", ["tap"] + widgetDeeds), ("config", ["tap", "widget-add", "widget-rm"]),
            ("family", ["tap", "widget-add", "widget-rm"]),
        ] + levels.map { ($0, ["budget"]) }

    private static let widgetDeeds = [
        "widget-add", "widget-rm", "widget-reload", "widget-gallery",
    ]

    /// Names of the levels of the phone's own update budget.
    private static let levels = ["unused", "standard", "frequent"]

    /// The body in the form that the simulator reads.
    package let json: JSON

    /// Reads the body. Throws all faults together.
    package init(reading view: JSONView) throws(FieldErrors) {
        var reader = FieldReader(view)
        let ofCard = reader.choice("do", Self.deeds.map { ($0.0, $0.ofCard) })
        reader.require("do", ", such as \"front\"")
        // The app chooses its activities' ids: `cat~2` is allowed, which the relay would refuse.
        let activity = reader.string("activity")
        if ofCard == true, activity == nil { reader.fail("activity", "is missing: whose card") }
        if activity?.isEmpty == true { reader.fail("activity", "is empty") }
        let deed = view["do"]?.string
        _ = reader.object("state")
        _ = reader.bool("on")
        _ = reader.object("parameters")
        for name in ["kind", "channel", "type", "link", "intent", "widget", "config"] {
            _ = reader.string(name)
        }
        // The position is in points of the phone's screen.
        _ = reader.double("x", in: 0...390)
        _ = reader.double("y", in: 0...844)
        if deed == "touch", (view["x"] == nil) != (view["y"] == nil) {
            reader.fail(view["x"] == nil ? "x" : "y", "is missing: a place has x and y")
        }
        for level in Self.levels { _ = reader.integer(level, in: 1...1_000_000) }
        for (name, deeds) in Self.members where view[name] != nil && !deeds.contains(deed ?? "") {
            reader.fail(name, "is of \(deeds.joined(separator: ", ")), not of \(deed ?? "this")")
        }
        _ = reader.choice("family", WidgetFamily.allCases.map { ($0.rawValue, $0) })
        if ["widget-add", "widget-rm", "widget-gallery"].contains(deed) {
            reader.require("widget", ": the widget's kind")
        }
        if deed == "widget-add" { reader.require("family", ", such as \"systemSmall\"") }
        if deed == "tap",
            ["activity", "widget", "link", "intent"].allSatisfy({ view[$0] == nil })
        {
            reader.fail(
                "activity", "is missing: say what is tapped (activity, widget, link or intent)")
        }
        if deed == "trouble" { reader.require("kind", "") }
        try reader.finish()
        json = view.json
    }
}
