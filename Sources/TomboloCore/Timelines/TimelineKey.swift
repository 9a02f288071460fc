/// Whom a timeline is about: what a widget shows differs from subject to subject.
package enum TimelineSubject: Sendable {
    /// What all devices of a user show.
    case user(String)
    /// What one device shows.
    case device(Identifier)
    /// Something of the producer's own, such as a door; a widget is configured to it.
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

    /// A subject as answers and cursors name it; nil where no kind of subject has that name.
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
    /// By the bytes of their texts.
    package static func == (one: TimelineSubject, other: TimelineSubject) -> Bool {
        one.name == other.name && isSameText(one.text, other.text)
    }

    /// Over what `==` compares.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

/// What a timeline is found by: an app has one of each kind for each subject.
package struct TimelineKey: Hashable, Sendable {
    package var tenant: TenantID
    package var app: String
    /// As WidgetKit calls it: the kind of widget.
    package var kind: Identifier
    package var subject: TimelineSubject

    package init(tenant: TenantID, app: String, kind: Identifier, subject: TimelineSubject) {
        self.tenant = tenant
        self.app = app
        self.kind = kind
        self.subject = subject
    }

    /// In lists: by app, kind and subject.
    package var order: [String] { [app, kind.rawValue, subject.name, subject.text] }

    /// Whether an order comes before another, by bytes: two users may have names that Unicode calls
    /// equivalent.
    static func precedes(_ one: [String], _ other: [String]) -> Bool {
        one.lexicographicallyPrecedes(other) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
