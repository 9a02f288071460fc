/// A path of the route table: `/v1/activities/{id}/end`.
package struct PathPattern: Hashable, Sendable, ExpressibleByStringLiteral {
    package let text: String
    private let parts: [Part]

    private enum Part: Hashable {
        case literal(String)
        case parameter(String)
    }

    /// Parses a pattern: segments between slashes. `{name}` matches any one segment.
    package init(stringLiteral text: String) {
        self.text = text
        parts = text.split(separator: "/").map { part in
            part.hasPrefix("{") && part.hasSuffix("}")
                ? .parameter(String(part.dropFirst().dropLast())) : .literal(String(part))
        }
    }

    package var parameters: [String] {
        parts.compactMap { if case .parameter(let name) = $0 { name } else { nil } }
    }

    /// Number of fixed segments. If two patterns match, the one with more fixed segments wins.
    package var literals: Int { parts.count - parameters.count }

    /// The values of the parameters; nil if the path does not match.
    package func match(_ segments: [String]) -> [String: String]? {
        guard segments.count == parts.count else { return nil }
        var values: [String: String] = [:]
        for (part, segment) in zip(parts, segments) {
            switch part {
            case .literal(let text):
                if text != segment { return nil }
            case .parameter(let name):
                if segment.isEmpty { return nil }
                values[name] = segment
            }
        }
        return values
    }

    /// The pattern with the segments of a user's path in place of its parameters, to compare it
    /// with that path.
    func filled(from segments: [String]) -> String {
        var text = ""
        for (index, part) in parts.enumerated() {
            switch part {
            case .literal(let literal): text += "/" + literal
            case .parameter: text += "/" + (index < segments.count ? segments[index] : "")
            }
        }
        return text
    }
}
