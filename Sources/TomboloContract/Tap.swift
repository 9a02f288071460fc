import TomboloJSON

/// A person's tap on a card, a widget or a button: the body of `POST /v1/devices/ID/actions`.
///
/// Post it once, at once. A tap is never queued, because the person has moved on.
public struct Tap: Hashable, Sendable {
    /// Outcome of a tap.
    public enum Outcome: Hashable, Sendable {
        case sent(action: String)
        /// The app should show "not sent". The reason is the relay's problem code, or a sentence.
        case notSent(reason: String)
    }

    /// A tap that did not reach the relay. The app shows "not sent".
    public struct NotSent: Error, Hashable, Sendable {
        /// The relay's problem code, or a sentence.
        public var reason: String

        public init(reason: String) { self.reason = reason }
    }

    /// The tapped card, or the card of the tapped button.
    public var activity: String?
    /// The kind of the tapped widget, and the configuration of it or of its tapped item.
    public var widget: String?
    public var config: String?
    /// The link of the tapped entry of a widget.
    public var link: String?
    /// The name of the intent that a button runs.
    public var intent: String?
    /// Parameters of the intent: one JSON object.
    public var parameters: [UInt8]?

    /// If no answer comes within this time, the app shows "not sent".
    public static let patience: Duration = .seconds(5)

    /// An empty tap. Set the members that describe it.
    public init() {}

    /// The tap on the link that opened the app.
    public init(_ link: AppLink) {
        switch link {
        case .activity(let name): activity = name
        case .other(let text): self.link = text
        }
    }

    /// The body of the request.
    ///
    /// - Parameter time: the moment of the tap, in RFC 3339.
    public func body(time: String) -> [UInt8] {
        JSONWriter.objectBytes { body in
            if let activity { body.member("activity", activity) }
            if let widget { body.member("widget", widget) }
            if let config { body.member("config", config) }
            if let link { body.member("link", link) }
            if let intent { body.member("intent", intent) }
            if let parameters {
                body.rawMember("parameters", parameters)
            }
            body.member("at", time)
        }
    }

    /// Reads the relay's answer.
    ///
    /// - Parameter status: the status; nil if no answer came within `patience`.
    public static func outcome(status: Int?, body: [UInt8]) -> Outcome {
        guard let status else { return .notSent(reason: "no answer in 5 s") }
        // An answer that cannot be read has no action id, so the tap counts as not sent.
        let view = try? JSONDocument(body).root
        if status == 202, let action = view?["action"]?.string { return .sent(action: action) }
        return .notSent(reason: view?["code"]?.string ?? "status \(status)")
    }
}
