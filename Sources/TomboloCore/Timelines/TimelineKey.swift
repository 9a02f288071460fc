/// What a timeline is about. Widgets show something else for each subject.
package enum TimelineSubject: Sendable {
    /// A user: all devices of the user show the same.
    case user(String)
    /// One device.
    case device(Identifier)
    /// A thing of the producer, such as a door. The widget's configuration names it.
    case key(Identifier)

    /// Name of the kind of subject, in requests and answers.
    package var name: String {
        switch self {
        case .user: "user"
        case .device: "device"
        case .key: "key"
        }
    }

    /// The user's name, or the id.
    package var text: String {
        switch self {
        case .user(let user): user
        case .device(let id), .key(let id): id.rawValue
        }
    }

    /// Makes a subject from `name` and `text`. Returns nil if one of them is invalid.
    package init?(name: String, text: String) {
        switch name {
        case "user" where !text.isEmpty: self = .user(text)
        case "device":
            guard let id = Identifier(text) else { return nil }
            self = .device(id)
        case "key":
            guard let id = Identifier(text) else { return nil }
            self = .key(id)
        default: return nil
        }
    }
}

extension TimelineSubject: Hashable {
    /// Compares texts by their bytes.
    package static func == (one: TimelineSubject, other: TimelineSubject) -> Bool {
        one.name == other.name && isSameText(one.text, other.text)
    }

    /// Hashes the values that `==` compares.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

/// Identifies a timeline. An app has one for each kind of widget and each subject.
package struct TimelineKey: Hashable, Sendable {
    package var tenant: TenantID
    package var app: String
    /// The kind of widget, as in WidgetKit.
    package var kind: Identifier
    package var subject: TimelineSubject

    /// Timelines are listed by these values: app, kind and subject.
    package var order: [String] { [app, kind.rawValue, subject.name, subject.text] }

    /// True if `one` comes before `other`. Bytes are compared, because two users' names may be
    /// equivalent in Unicode.
    static func precedes(_ one: [String], _ other: [String]) -> Bool {
        one.lexicographicallyPrecedes(other) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
