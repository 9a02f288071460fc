package import TomboloCore
import TomboloJSON

/// What people know a key by, and how long it lives.
package struct KeyTraits: Hashable, Sendable {
    /// What it is for, in the words of those who made it.
    package var name: String?
    /// From then on it opens nothing.
    package var expiresAt: Instant?
    /// The id of the key that asked for it; nil: it was made on the machine, without one.
    package var createdBy: String?

    package init(name: String? = nil, expiresAt: Instant? = nil, createdBy: String? = nil) {
        self.name = name
        self.expiresAt = expiresAt
        self.createdBy = createdBy
    }

    /// A name has so many characters, as JSON Schema counts them: code points. Control characters
    /// are none.
    package static let nameMax = 128
    /// A key lives so long, where it has an end.
    package static let lives: ClosedRange<Span> = .seconds(1)...(.hours(87_600))

    /// Why `name` is none, as the end of a sentence; nil where it is one.
    package static func objection(toName name: String) -> String? {
        let isPlain = name.unicodeScalars.allSatisfy { scalar in
            scalar.value >= 0x20 && !(0x7F..<0xA0).contains(scalar.value)
        }
        return (1...nameMax).contains(name.unicodeScalars.count) && isPlain
            ? nil : "must be 1 to \(nameMax) characters, in one line"
    }

    func write(to writer: inout JSONWriter) {
        if let name { writer.member("name", name) }
        if let createdBy { writer.member("created_by", createdBy) }
        if let expiresAt { writer.member("expires_at", expiresAt.rfc3339) }
    }
}
