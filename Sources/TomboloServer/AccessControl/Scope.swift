package import TomboloCore

/// What a key may do.
package enum Scope: Hashable, Sendable {
    /// May write activities and events.
    case produce
    /// May make all GET requests.
    case observe
    /// May do everything, including managing keys.
    case operate
    /// May manage this device's own registration, tokens, presence and reports.
    case device(Identifier)

    /// Parses a scope; nil if there is no such scope.
    package init?(_ text: String) {
        switch text {
        case "produce": self = .produce
        case "observe": self = .observe
        case "operate": self = .operate
        default:
            guard text.hasPrefix("device:"), let id = Identifier(String(text.dropFirst(7))) else {
                return nil
            }
            self = .device(id)
        }
    }

    package var text: String {
        switch self {
        case .produce: "produce"
        case .observe: "observe"
        case .operate: "operate"
        case .device(let id): "device:\(id.rawValue)"
        }
    }
}

/// The scopes of a key, in the given order.
package struct ScopeSet: Hashable, Sendable {
    /// Maximum number of scopes of a key. A key is not meant for long lists of devices.
    package static let scopesMax = 64

    package let scopes: [Scope]

    /// Returns nil if there are no scopes or too many. Removes duplicates.
    package init?(_ scopes: [Scope]) {
        var distinct: [Scope] = []
        for scope in scopes where !distinct.contains(scope) { distinct.append(scope) }
        guard (1...Self.scopesMax).contains(distinct.count) else { return nil }
        self.scopes = distinct
    }

    /// Parses a list in the format of `--scope`, such as `produce,observe`. Here `all` means
    /// produce, observe and operate.
    package init?(list text: String) {
        self.init(
            words: text.split(separator: ",", omittingEmptySubsequences: false).map { part in
                String(part.drop { $0 == " " })
            })
    }

    /// Parses words, for example from JSON: each is one scope or `all`. Returns nil if a word is no
    /// scope or if there are more words than a key may have scopes, duplicates included.
    package init?(words: [String]) {
        guard words.count <= Self.scopesMax else { return nil }
        var scopes: [Scope] = []
        for word in words {
            if word == "all" {
                scopes += Self.all.scopes
            } else if let scope = Scope(word) {
                scopes.append(scope)
            } else {
                return nil
            }
        }
        self.init(scopes)
    }

    /// Every scope except those of devices.
    package static let all = ScopeSet(unchecked: [.produce, .observe, .operate])

    private init(unchecked scopes: [Scope]) { self.scopes = scopes }

    /// The devices in these scopes.
    package var devices: [Identifier] {
        scopes.compactMap { scope in
            if case .device(let id) = scope { id } else { nil }
        }
    }

    /// True if the set contains exactly this scope. A wider scope does not count.
    package func contains(_ scope: Scope) -> Bool { scopes.contains(scope) }
}
