package import TomboloJSON

/// The user and the app for which a key with scopes of devices registers them.
package struct KeyBinding: Hashable, Sendable {
    package var user: String?
    package var app: String?

    /// Of a key that names neither.
    package static let none = KeyBinding()

    package init(user: String? = nil, app: String? = nil) {
        self.user = user
        self.app = app
    }

    /// A user and an app have so many characters each, as JSON Schema counts them: code points. A
    /// key stays in memory and in the log.
    package static let lengthMax = 256

    /// Why `text` is no user and no app of a key, as the end of a sentence; nil where it is one.
    package static func objection(to text: String) -> String? {
        if text.isEmpty { return "must not be empty" }
        return text.unicodeScalars.count <= lengthMax
            ? nil : "must have at most \(lengthMax) characters"
    }

    /// Whether a key of these scopes may have it: of a key without a device it would say nothing.
    package func fits(_ scopes: ScopeSet) -> Bool {
        self == .none
            || scopes.scopes.contains { if case .device = $0 { true } else { false } }
    }

    /// `"user"` and `"app"`, as far as they are there.
    package func write(to writer: inout JSONWriter) {
        if let user { writer.member("user", user) }
        if let app { writer.member("app", app) }
    }
}
