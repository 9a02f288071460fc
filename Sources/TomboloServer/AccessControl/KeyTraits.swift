package import TomboloCore
import TomboloJSON

/// A key's name, end and origin.
package struct KeyTraits: Hashable, Sendable {
    /// What the key is for, in the words of its creator.
    package var name: String?
    /// When the key ends; nil: never.
    package var expiresAt: Instant?
    /// The id of the key that created this one; nil if it was created on the relay's machine.
    package var createdBy: String?

    package init(name: String? = nil, expiresAt: Instant? = nil, createdBy: String? = nil) {
        self.name = name
        self.expiresAt = expiresAt
        self.createdBy = createdBy
    }

    /// Maximum length of a name, in code points as in JSON Schema. No control characters.
    package static let nameMax = 128
    /// Lifetimes that a key may have if it has an end: from one second to ten years.
    package static let lives: ClosedRange<Span> = .seconds(1)...(.hours(87_600))

    /// Why `name` is not valid; nil if it is valid. Completes a sentence: `must …`.
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
