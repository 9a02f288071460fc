package import TomboloCore

/// What a key allows.
package enum Scope: Hashable, Sendable {
    /// Writes under activities and events.
    case produce
    /// Every GET.
    case observe
    /// Everything, and keys.
    case operate
    /// One device's own registration, tokens, presence and reports.
    case device(Identifier)

    /// Reads a scope's text; nil where there is no such scope.
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

/// The scopes of a key, in the order in which they were given.
package struct ScopeSet: Hashable, Sendable {
    /// More would be a list of devices, which a key is not made for.
    package static let scopesMax = 64

    package let scopes: [Scope]

    /// Answers nil for none, for too many, and leaves out repetitions.
    package init?(_ scopes: [Scope]) {
        var distinct: [Scope] = []
        for scope in scopes where !distinct.contains(scope) { distinct.append(scope) }
        guard (1...Self.scopesMax).contains(distinct.count) else { return nil }
        self.scopes = distinct
    }

    /// Reads a list as `--scope` has it, `produce,observe`; `all` stands for produce, observe and
    /// operate.
    package init?(list text: String) {
        self.init(
            words: text.split(separator: ",", omittingEmptySubsequences: false).map { part in
                String(part.drop { $0 == " " })
            })
    }

    /// Reads words that come one by one, as JSON has them: each is one scope or `all`, and nothing
    /// else. Answers nil for more words than a key has scopes, repetitions too.
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

    /// For `tombolo dev`: nothing is closed to it.
    package static let all = ScopeSet(unchecked: [.produce, .observe, .operate])

    private init(unchecked scopes: [Scope]) { self.scopes = scopes }

    /// The devices that it is for.
    package var devices: [Identifier] {
        scopes.compactMap { scope in
            if case .device(let id) = scope { id } else { nil }
        }
    }

    /// Whether the scope itself is there; nothing is inherited.
    package func contains(_ scope: Scope) -> Bool { scopes.contains(scope) }
}
