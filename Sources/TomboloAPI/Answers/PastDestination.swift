package import TomboloCore
package import TomboloJSON

/// The state of a destination at a past moment, from the delivery history.
package struct PastDestination: Sendable {
    package let recipient: Recipient
    private var newest: DeliveryEntry?
    private var accepted: DeliveryEntry?

    /// A destination to which nothing was delivered yet.
    package init(_ recipient: Recipient) { self.recipient = recipient }

    /// Adds a delivery. Call it for the newest delivery first.
    package mutating func take(_ entry: DeliveryEntry) {
        if entry.record.attempt != nil, newest == nil { newest = entry }
        guard accepted == nil, entry.record.attempt?.answer == .accepted else { return }
        accepted = entry
    }

    package func write(to writer: inout JSONWriter) {
        let route = (accepted ?? newest)?.record.attempt?.route
        writer.object { writer in
            writer.member(recipient.member, recipient.name.rawValue)
            writer.nullable("route", route?.name)
            writer.member("acknowledged_version", accepted?.record.version ?? 0)
            writer.nullable("acknowledged_at", accepted?.at.rfc3339)
            writer.nullable("result", newest?.result)
        }
    }
}
