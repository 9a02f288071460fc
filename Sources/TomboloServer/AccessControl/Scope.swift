package import TomboloCore

/// What a key may do.
package enum Scope: Hashable, Sendable {
    /// Writing activities and events.
    case produce
    /// All GET requests.
    case observe
    /// Everything, including keys.
    case operate
    /// One device's own registration, tokens, presence and reports.
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
    /// Most scopes of a key: it is not meant for long lists of devices.
    package static let scopesMax = 64

    package let scopes: [Scope]

    /// Nil for no scopes and for too many. Removes repetitions.
    package init?(_ scopes: [Scope]) {
        var distinct: [Scope] = []
        for scope in scopes where !distinct.contains(scope) { distinct.append(scope) }
        guard (1...Self.scopesMax).contains(distinct.count) else { return nil }
        self.scopes = distinct
    }

    /// Parses a list in the format of `--scope`, such as `produce,observe`; `all` means produce,
    /// observe and operate.
    package init?(list text: String) {
        self.init(
            words: text.split(separator: ",", omittingEmptySubsequences: false).map { part in
                String(part.drop { $0 == " " })
            })
    }

    /// Parses words, for example from JSON: each is one scope or `all`. Nil for more words than a
    /// key may have scopes, counting repetitions.
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

    /// True if this very scope is in the set; a wider scope does not count.
    package func contains(_ scope: Scope) -> Bool { scopes.contains(scope) }
}
