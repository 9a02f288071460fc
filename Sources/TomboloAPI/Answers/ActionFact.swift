package import TomboloCore
package import TomboloJSON

/// What a person did on a phone, as a line of the log has it.
package struct ActionFact: Sendable {
    private let body: JSONView
    package let expiresAt: Instant
    /// A hash of the user whose device it was (`DeliveryIDs.owner`); nil: it had
    /// no user.
    package let owner: Int64?

    /// Nil where the fact is no action, was erased, or is damaged.
    package init?(_ fact: NewFact, _ body: JSONView) {
        guard fact.kind == DeviceAction.factKind,
            let expiresAt = body["expires_at"]?.string.flatMap(Instant.init(nearest:))
        else { return nil }
        self.body = body
        self.expiresAt = expiresAt
        owner = body["owner"]?.integer
    }

    /// Whether a fact is an action that has expired by then.
    package static func hasExpired(_ fact: NewFact, now: Instant) -> Bool {
        guard fact.kind == DeviceAction.factKind else { return false }
        // One that cannot be read is of no use either.
        guard let document = try? JSONDocument(fact.body) else { return true }
        return Self(fact, document.root).map { $0.expiresAt <= now } ?? true
    }

    private static let hidden: Set<String> = ["device", "owner"]

    /// The members of the fact's body but for the device. One that has expired is of no use any
    /// more: what it asked for stays out.
    func writeMembers(to writer: inout JSONWriter, now: Instant) {
        let isExpired = expiresAt <= now
        for member in body.members where !Self.hidden.contains(member.name) {
            if isExpired, member.name == "parameters" { continue }
            writer.name(member.name)
            writer.raw(member.value.json)
        }
        if isExpired { writer.member("expired", true) }
    }
}
