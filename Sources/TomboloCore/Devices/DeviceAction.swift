package import TomboloJSON

/// What a user did on a phone: tapped a card, a widget or a link, or a button with an intent.
package struct DeviceAction: Hashable, Sendable {
    /// The tapped card, by the id in its attributes.
    package var activity: ActivityReference?
    /// Kind and configuration id of the tapped widget, if a widget was tapped.
    package var widget: Identifier?
    package var config: Identifier?
    package var link: String?
    package var intent: String?
    /// The intent's parameters, as one JSON object.
    package var parameters: JSON?
    /// When the user acted, by the phone's clock.
    package var at: Instant
    /// How long after `at` the action expires.
    package var expires: Span
    package var idempotency: IdempotencyKey?

    /// The kind of the fact that the log stores for an action.
    package static let factKind = "action"
    package static let expiresDefault = Span.seconds(30)
    /// Maximum of `expires`: an action that takes effect later would surprise the user.
    package static let expiresMax = Span.minutes(10)
    /// A time in the future by more than this is refused: a clock is wrong.
    package static let aheadMax = Span.seconds(5)
    package static let parametersBytesMax = 4_096
    package static let intentBytesMax = 256
    /// Maximum size of a link, as for the `url` of a widget's entry.
    package static let linkBytesMax = 2_048
    /// How long after its newest push a card accepts taps and intents.
    package static let offeredFor = Span.hours(24)

    /// Reads the body of `POST …/actions`. Throws `FieldErrors` with all faults.
    package init(reading view: JSONView) throws(FieldErrors) {
        var reader = FieldReader(view)
        if let text = reader.string("activity") {
            activity = ActivityReference(text)
            if activity == nil { reader.fail("activity", "must be the id from the attributes") }
        }
        widget = reader.identifier("widget")
        config = reader.identifier("config")
        if view["widget"] != nil {
            if view["activity"] != nil {
                reader.fail("widget", "give activity or widget: a tap is on one of them")
            } else if view["link"] == nil, view["intent"] == nil {
                reader.fail("widget", "needs what was tapped on it: link or intent")
            }
        } else if view["config"] != nil {
            reader.fail("config", "is of a widget: give widget too, its kind")
        }
        link = reader.string("link")
        if let link, !(1...Self.linkBytesMax).contains(link.utf8.count) {
            reader.fail("link", "must have 1 to \(Self.linkBytesMax) bytes")
        }
        intent = reader.string("intent")
        if let intent, !(1...Self.intentBytesMax).contains(intent.utf8.count) {
            reader.fail("intent", "must have 1 to \(Self.intentBytesMax) bytes")
        }
        parameters = reader.object("parameters")?.json
        if parameters != nil, intent == nil {
            reader.fail("parameters", "belong to an intent: give intent too")
        }
        if let parameters, parameters.bytes.count > Self.parametersBytesMax {
            reader.fail("parameters", "must have at most \(Self.parametersBytesMax) bytes")
        }
        if link != nil, intent != nil { reader.fail("link", "give link or intent, not both") }
        if view["activity"] == nil, view["link"] == nil, view["intent"] == nil {
            reader.fail("activity", "give what was tapped: activity, link or intent")
        }
        let at = reader.instant("at")
        reader.require("at", ": when the person tapped")
        expires =
            reader.span("expires", in: .seconds(1)...Self.expiresMax) ?? Self.expiresDefault
        try reader.finish()
        self.at = at ?? .distantPast
    }

    /// The action with a corrected time: if the relay's clock is known to be behind, a time in the
    /// future becomes the time of arrival.
    func arrived(at wall: Instant, clockIsBehind: Bool) -> DeviceAction {
        guard clockIsBehind, at > wall else { return self }
        var action = self
        action.at = wall
        return action
    }

    /// Throws if the action has expired, or if its time is too far in the future.
    func checkAge(at wall: Instant) throws(Refusal) {
        if at > wall + Self.aheadMax {
            throw Refusal(
                .invalidField,
                "the action is \((at - wall).roundedText) ahead of the relay's clock; one of the two clocks "
                    + "is wrong: set the phone's, or the relay's",
                errors: [
                    FieldError(
                        pointer: "/at", message: "is more than 5 s ahead of the relay's clock")
                ])
        }
        guard wall - at < expires else {
            throw Refusal(
                .actionExpired,
                "the person did it \((wall - at).roundedText) ago, and it expires after "
                    + "\(expires.text); show "
                    + "\"not sent\", and let the person do it again")
        }
    }

    /// The JSON of the action's fact.
    ///
    /// - Parameter owner: a hash of the device's user; nil if the device has no user.
    func body(_ id: String, of recipient: Recipient, owner: Int64?) -> [UInt8] {
        var writer = FactRecipient.body(about: recipient)
        writer.member("action", id)
        if let owner { writer.member("owner", owner) }
        if let activity { writer.member("card", activity.text) }
        if let widget { writer.member("widget", widget.rawValue) }
        if let config { writer.member("config", config.rawValue) }
        if let link { writer.member("link", link) }
        if let intent { writer.member("intent", intent) }
        if let parameters { writer.member("parameters", parameters) }
        writer.member("at", at.rfc3339)
        writer.member("expires_at", (at + expires).rfc3339)
        writer.endObject()
        return writer.bytes
    }
}
