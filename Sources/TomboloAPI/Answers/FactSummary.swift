package import TomboloCore
package import TomboloJSON

/// What the members of a log's line say of a fact, beside its body.
package struct FactSummary: Hashable, Sendable {
    /// Whom it is about; nil where it is about no device and no channel.
    package let recipient: Recipient?
    package let version: Int64?
    /// What became of a push: `accepted`, `refused`, `not_sent`, `unknown`, `skipped`, `merged` or
    /// `expired`. Nil for every other fact.
    package let result: String?
    /// Why: Apple's word for a refusal, the relay's for a push that it did not send.
    package let reason: String?

    /// - Parameter body: of the fact; nil where it cannot be read.
    package init(_ fact: NewFact, body: JSONView?) {
        recipient = body.flatMap(Recipient.init)
        version = body?["version"]?.integer
        let isDelivery = DeliveryRecord.kinds.contains(fact.kind)
        result = isDelivery ? fact.kind.split(separator: ".").last.map(String.init) : nil
        let word = isDelivery ? body?["decision"]?.string.flatMap(EventDecision.init(word:)) : nil
        reason = body?["reason"]?.string ?? word?.reason
    }

    func writeMembers(to writer: inout JSONWriter) {
        if let recipient { writer.member(recipient.member, recipient.name.rawValue) }
        if let version { writer.member("version", version) }
        writer.optional("result", result)
        writer.optional("reason", reason)
    }
}
