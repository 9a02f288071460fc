import TomboloCore
import TomboloJSON

/// The keys of `dev`'s screen: a digit chooses a phone, and a letter acts on it.
///
/// Pure: its input is a key and the phone's state, its output an action.
struct DevKeys: Hashable, Sendable {
    /// The chosen phone, counted from 0.
    private(set) var chosen = 0
    let phones: Int

    enum Action: Hashable, Sendable {
        case quit
        /// The body of a `POST /v1/phones/{phone}`.
        case act(String)
        case nothing
    }

    static let hint =
        "keys: 1-9 phone, f app, c Control Center, w switcher, e touch its edge, m touch the middle, "
        + "l lock, o network, s swipe, t tap, b button, a Allow, q quit"

    /// Returns the action for a key.
    ///
    /// - Parameters:
    ///   - phone: the chosen phone as `/v1/phones` shows it; nil if unknown.
    ///   - intents: for each type, the intents of the buttons on its cards and widgets.
    mutating func press(
        _ key: UInt8, on phone: JSONView?, intents: [String: [TypeIntent]] = [:]
    ) -> Action {
        switch Character(UnicodeScalar(key)) {
        case "q": return .quit
        case let digit where digit.isNumber:
            let index = (digit.wholeNumberValue ?? 0) - 1
            if (0..<phones).contains(index) { chosen = index }
            return .nothing
        case "f": return deed(phone?["presence"]?.string == "background" ? "front" : "back")
        case "c": return deed(phone?["presence"]?.string == "covered" ? "front" : "control-center")
        case "w": return deed(phone?["presence"]?.string == "inactive" ? "front" : "switcher")
        case "e": return touch(atEdge: true, phone)
        case "m": return touch(atEdge: false, phone)
        case "l": return deed(phone?["locked"]?.bool == true ? "unlock" : "lock")
        case "o": return deed(phone?["online"]?.bool == false ? "online" : "offline")
        case "a": return deed("allow")
        case "b": return button(phone, intents)
        case "s", "t":
            let cards = phone?.items("cards") ?? []
            guard let activity = cards.last?["activity"]?.string else { return .nothing }
            return deed(key == UInt8(ascii: "s") ? "swipe" : "tap", activity)
        default: return .nothing
        }
    }

    /// Presses the first button of the newest card that has a button, or else of a widget.
    private func button(_ phone: JSONView?, _ intents: [String: [TypeIntent]]) -> Action {
        let cards = phone?["cards"]?.elements.reversed() ?? []
        let widgets = phone?.items("widgets") ?? []
        for shown in cards + widgets {
            guard let intent = intents[shown["type"]?.string ?? ""]?.first,
                shown["phase"]?.string ?? "active" == "active"
            else { continue }
            let items = shown["state"]?.items("items") ?? []
            let state = items.first ?? shown["drawn_state"] ?? shown["state"]
            let json = JSON.object { writer in
                writer.member("do", "tap")
                writer.optionals([
                    ("activity", shown["activity"]?.string), ("widget", shown["kind"]?.string),
                    ("family", shown["family"]?.string), ("config", shown["config"]?.string),
                ])
                writer.member("intent", intent.name)
                if let parameters = state.flatMap(intent.parameters) {
                    writer.member("parameters", parameters)
                }
            }
            return .act(json.description)
        }
        return .nothing
    }

    /// Touches the edge of the phone's Control Center, or the middle of its screen.
    private func touch(atEdge: Bool, _ phone: JSONView?) -> Action {
        guard let width = phone?["width"]?.double, let height = phone?["height"]?.double else {
            return .nothing
        }
        let isTop = phone?["control_center"]?.string == "top_right"
        let json = JSON.object { writer in
            writer.member("do", "touch")
            writer.member("x", atEdge && isTop ? width * 0.9 : width / 2)
            writer.member("y", !atEdge ? height / 2 : isTop ? height * 0.02 : height * 0.98)
        }
        return .act(json.description)
    }

    private func deed(_ word: String, _ activity: String? = nil) -> Action {
        .act(JSON.object { $0.optionals([("do", word), ("activity", activity)]) }.description)
    }

    /// The phone's situation in a few words, for the line below its name. Empty for a phone that is
    /// not locked, offline or in use.
    static func place(_ phone: JSONView) -> String {
        var words: [String] = []
        switch phone["presence"]?.string {
        case "active": words.append("app in front")
        case "covered": words.append("Control Center")
        case "inactive": words.append("app switcher")
        default: break
        }
        if phone["locked"]?.bool == true { words.append("locked") }
        if phone["online"]?.bool == false { words.append("offline") }
        if phone["terminated"]?.bool == true { words.append("app closed") }
        if phone["budget"]?["holds"]?.bool == true { words.append("over budget") }
        if let tap = phone["tap"], tap["result"]?.string == "not sent" {
            words.append("tap not sent")
        }
        words += phone.texts("trouble")
        return words.joined(separator: ", ")
    }
}
