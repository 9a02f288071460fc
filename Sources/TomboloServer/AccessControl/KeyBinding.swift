package import TomboloJSON

/// The user and the app for which a device's key registers the device.
package struct KeyBinding: Hashable, Sendable {
    package var user: String?
    package var app: String?

    /// The binding of a key without user and app.
    package static let none = KeyBinding()

    package init(user: String? = nil, app: String? = nil) {
        self.user = user
        self.app = app
    }

    /// Maximum length of a user or an app, in code points as in JSON Schema. Keys stay in memory
    /// and in the log, so their size is limited.
    package static let lengthMax = 256

    /// Why `text` is not valid as user or app; nil if it is valid. Completes a sentence: `must …`.
    package static func objection(to text: String) -> String? {
        if text.isEmpty { return "must not be empty" }
        return text.unicodeScalars.count <= lengthMax
            ? nil : "must have at most \(lengthMax) characters"
    }

    /// True if a key of these scopes may have this binding. Only a key with a scope of a device may
    /// have a binding other than `none`.
    package func fits(_ scopes: ScopeSet) -> Bool {
        self == .none
            || scopes.scopes.contains { if case .device = $0 { true } else { false } }
    }

    /// Writes `"user"` and `"app"` if they are set.
    package func write(to writer: inout JSONWriter) {
        if let user { writer.member("user", user) }
        if let app { writer.member("app", app) }
    }
}
