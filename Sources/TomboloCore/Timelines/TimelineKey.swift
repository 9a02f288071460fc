/// The subject of a timeline: a widget shows something different for each subject.
package enum TimelineSubject: Sendable {
    /// All devices of a user show the same.
    case user(String)
    /// One device shows it.
    case device(Identifier)
    /// Something of the producer's, such as a door; a widget is configured to it.
    case key(Identifier)

    /// Its name in requests and answers.
    package var name: String {
        switch self {
        case .user: "user"
        case .device: "device"
        case .key: "key"
        }
    }

    /// The user, or the id.
    package var text: String {
        switch self {
        case .user(let user): user
        case .device(let id), .key(let id): id.rawValue
        }
    }

    /// A subject from its name in answers and cursors; nil if no kind of subject has that name.
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
    /// Compares the bytes of the texts.
    package static func == (one: TimelineSubject, other: TimelineSubject) -> Bool {
        one.name == other.name && isSameText(one.text, other.text)
    }

    /// Hashes what `==` compares.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

/// Identifies a timeline: an app has one of each kind for each subject.
package struct TimelineKey: Hashable, Sendable {
    package var tenant: TenantID
    package var app: String
    /// The kind of widget, as in WidgetKit.
    package var kind: Identifier
    package var subject: TimelineSubject

    package init(tenant: TenantID, app: String, kind: Identifier, subject: TimelineSubject) {
        self.tenant = tenant
        self.app = app
        self.kind = kind
        self.subject = subject
    }

    /// The order in lists: by app, kind and subject.
    package var order: [String] { [app, kind.rawValue, subject.name, subject.text] }

    /// Whether an order comes before another, by bytes, because two users' names may be equivalent
    /// in Unicode.
    static func precedes(_ one: [String], _ other: [String]) -> Bool {
        one.lexicographicallyPrecedes(other) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
