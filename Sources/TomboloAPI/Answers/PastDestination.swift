package import TomboloCore
package import TomboloJSON

/// What a destination held at a moment of the past, as the delivery history has it.
package struct PastDestination: Sendable {
    package let recipient: Recipient
    private var newest: DeliveryEntry?
    private var accepted: DeliveryEntry?

    /// One of which nothing is known yet.
    package init(_ recipient: Recipient) { self.recipient = recipient }

    /// Takes its deliveries, the newest first.
    package mutating func take(_ entry: DeliveryEntry) {
        if entry.record.attempt != nil, newest == nil { newest = entry }
        guard accepted == nil, entry.record.attempt?.answer == .accepted else { return }
        accepted = entry
    }

    package func write(to writer: inout JSONWriter) {
        let route = (accepted ?? newest)?.record.attempt?.route
        writer.beginObject()
        writer.member(recipient.member, recipient.name.rawValue)
        writer.nullable("route", route?.name)
        writer.member("acknowledged_version", accepted?.record.version ?? 0)
        writer.nullable("acknowledged_at", accepted?.at.rfc3339)
        writer.nullable("result", newest?.result)
        writer.endObject()
    }
}
