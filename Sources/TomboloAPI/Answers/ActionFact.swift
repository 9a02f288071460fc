package import TomboloCore
package import TomboloJSON

/// A user's action on a phone, as the log stores it.
package struct ActionFact: Sendable {
    private let body: JSONView
    package let expiresAt: Instant
    /// A hash of the device's user (`DeliveryIDs.owner`); nil if the device had no user.
    package let owner: Int64?

    /// Nil if the fact is not an action, was erased, or is damaged.
    package init?(_ fact: NewFact, _ body: JSONView) {
        guard fact.kind == DeviceAction.factKind,
            let expiresAt = body["expires_at"]?.string.flatMap(Instant.init(nearest:))
        else { return nil }
        self.body = body
        self.expiresAt = expiresAt
        owner = body["owner"]?.integer
    }

    /// True if a fact is an action that has expired by `now`, was erased, or is damaged.
    package static func hasExpired(_ fact: NewFact, now: Instant) -> Bool {
        guard fact.kind == DeviceAction.factKind else { return false }
        // A damaged action cannot be carried out: it counts as expired.
        guard let document = try? JSONDocument(fact.body) else { return true }
        return Self(fact, document.root).map { $0.expiresAt <= now } ?? true
    }

    private static let hidden: Set<String> = ["device", "owner"]

    /// Writes the members of the fact's body, without device and owner. If the action has expired,
    /// `parameters` is left out too, because nobody must carry the action out any more.
    func writeMembers(to writer: inout JSONWriter, now: Instant) {
        let isExpired = expiresAt <= now
        for member in body.members where !Self.hidden.contains(member.name) {
            if isExpired, member.name == "parameters" { continue }
            writer.member(member.name, member.value.json)
        }
        if isExpired { writer.member("expired", true) }
    }
}
