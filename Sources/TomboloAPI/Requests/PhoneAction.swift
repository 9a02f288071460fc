package import TomboloCore
package import TomboloJSON

/// The body of `POST /v1/phones/{phone}`: what a user, the system or the app does on a simulated
/// phone.
package struct PhoneAction: Sendable {
    /// Whether it is done to a card.
    private static let deeds: [(String, ofCard: Bool)] = [
        ("front", false), ("back", false), ("control-center", false), ("lock", false),
        ("unlock", false), ("offline", false), ("online", false), ("terminate", false),
        ("launch", false), ("swipe", true), ("allow", true), ("rotate", true), ("update", true),
    ]

    /// The body as the simulator reads it.
    package let json: JSON

    /// Reads the body; throws every fault it finds.
    package init(reading view: JSONView) throws(FieldErrors) {
        var reader = FieldReader(view)
        let ofCard = reader.choice("do", Self.deeds.map { ($0.0, $0.ofCard) })
        if view["do"] == nil { reader.fail("do", "is missing, such as \"front\"") }
        // An app may name its activity `cat~2`: no id of the relay, but the phone's.
        let activity = reader.string("activity")
        if ofCard == true, activity == nil { reader.fail("activity", "is missing: whose card") }
        _ = reader.object("state")
        try reader.finish()
        json = view.json
    }
}
