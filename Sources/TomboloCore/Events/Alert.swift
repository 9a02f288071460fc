package import TomboloJSON

/// An alert, which lets a phone ring or light up: `title` and `body`, each a string or an object
/// `{"loc-key","loc-args"}`, and `sound` (Apple, "Starting and updating Live Activities with
/// ActivityKit push notifications").
package enum Alert {
    /// Default of `alert_ttl`: an alert that has waited longer is not sent any more.
    package static let defaultTTL = Span.minutes(2)
    /// Maximum number of an activity's waiting alerts; the oldest are dropped.
    package static let waitingMax = 8

    /// Whether a member has a text.
    private enum Text {
        /// The member is missing, or is an object without `loc-key`.
        case missing
        case empty, some
    }

    private static func text(_ name: String, of alert: JSONView) -> Text {
        guard let value = alert[name],
            let text = value.kind == .object ? value["loc-key"]?.string : value.string
        else { return .missing }
        return text.utf8.isEmpty ? .empty : .some
    }

    /// True if the alert has a title or a body, even an empty one. A phone drops a start whose
    /// alert has neither.
    package static func hasText(_ alert: JSONView) -> Bool {
        text("title", of: alert) != .missing || text("body", of: alert) != .missing
    }

    /// Why phones ignore the alert and its sound; nil if phones show the alert.
    package static func fault(in alert: JSONView) -> String? {
        switch (text("title", of: alert), text("body", of: alert)) {
        case (.missing, .missing): "has neither a title nor a body"
        case (.missing, _): "has a body and no title"
        case (.some, _), (.empty, .some): nil
        case (.empty, _): "has empty texts only"
        }
    }

    /// Lints for parts of an alert that phones silently ignore.
    static func lints(of alert: JSONView, at pointer: String) -> [Lint] {
        var lints: [Lint] = []
        if let fault = fault(in: alert) {
            lints.warn(
                .alertWithoutTitle, pointer,
                "\(fault): phones ignore the whole alert, its sound with it; give it a title")
        }
        if let sound = alert["sound"]?.string, silences.contains(sound.lowercased()) {
            lints.warn(
                .alertSoundUnknown, "\(pointer)/sound",
                "names a sound file that no app has, and does not silence the alert; leave "
                    + "\"sound\" out for an alert without a sound")
        }
        return lints + kindLints(of: alert, at: pointer)
    }

    /// Kinds inside an alert that no phone reads.
    private static func kindLints(of alert: JSONView, at pointer: String) -> [Lint] {
        var lints: [Lint] = []
        for name in ["title", "body"] {
            guard let list = alert[name]?["loc-args"], list.strings(atMost: list.count) == nil
            else {
                continue
            }
            lints.warn(
                .payloadMember, "\(pointer)/\(name)/loc-args",
                "must be an array of texts, one for each place in the app's text")
        }
        if let sound = alert["sound"], sound.kind != .string {
            lints.warn(
                .payloadMember, "\(pointer)/sound",
                "must be of kind string, not \(sound.kind.rawValue)")
        }
        return lints
    }

    /// Words that people write in `sound` when they want no sound.
    private static let silences: Set<String> = ["", "nil", "none", "null"]

    static func reading(_ reader: inout FieldReader) -> JSON? {
        let shape = #"{"title":"In the oven","body":"Ready at 9:40"}"#
        guard let view = reader.object("alert", like: shape) else { return nil }
        var inner = reader.inside(view, "alert")
        for name in ["title", "body"] {
            if let value = inner.value(name), value.kind != .string, value.kind != .object {
                inner.fail(name, "must be a string, or an object with loc-key and loc-args")
            }
        }
        _ = inner.string("sound")
        let isNull = view["title"]?.isNull ?? false
        if !reader.isOfLog, isNull || inner.errors.isEmpty, !hasText(view) {
            inner.fail(
                "title",
                "is missing: phones ignore an alert without text, and begin no card with it")
        }
        do { try inner.finish() } catch { reader.adopt(error) }
        return view.json
    }
}
