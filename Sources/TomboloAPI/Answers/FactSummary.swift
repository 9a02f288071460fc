package import TomboloCore
package import TomboloJSON

/// Members that describe a fact in a line of the log, beside its body.
package struct FactSummary: Hashable, Sendable {
    /// The device or channel that the fact is about; nil if it is about neither.
    package let recipient: Recipient?
    package let version: Int64?
    /// The result of a push: `accepted`, `refused`, `not_sent`, `unknown`, `skipped`, `merged` or
    /// `expired`. Nil for facts that are not about deliveries.
    package let result: String?
    /// The reason: Apple's word if Apple refused the push, else the relay's own word.
    package let reason: String?

    /// - Parameter body: the fact's body; nil if it is damaged.
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
