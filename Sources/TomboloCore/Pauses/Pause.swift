package import TomboloJSON

/// An operator's pause (pacing rule 16): events are still taken and projected, but nothing is sent;
/// on resume only the newest state is sent.
package struct Pause: Hashable, Sendable {
    /// What it covers.
    package enum Scope: Hashable, Sendable {
        /// Everything of the tenant.
        case all
        case app(String)
        case type(String)
        case activity(Identifier)
    }

    /// Its number among the records of all tenants.
    package let number: Int64
    /// Counts the tenant's own pauses; the name is `pause_<serial>`.
    package let serial: Int64
    package let tenant: TenantID
    package let scope: Scope
    /// Updates are sent without their alerts, and starts wait.
    package let alertsOnly: Bool
    /// The reason, for other operators.
    package let reason: String?
    /// Characters of a reason, at most: it is on record with each pause.
    package static let reasonMax = 500
    package let since: Instant
    /// The key that asked for it.
    package var key = AskingKey.unknown

    package var name: String { "pause_\(serial)" }

    /// More pauses of one tenant are refused: each is checked whenever something would be sent.
    static let countMax = 100

    /// The serial in a name; nil if the name has none.
    package static func serial(ofName name: String) -> Int64? {
        guard name.hasPrefix("pause_"), let serial = Int64(name.dropFirst(6)), serial > 0 else {
            return nil
        }
        return serial
    }
}

/// What an operator asks for.
package struct PauseRequest: Hashable, Sendable {
    package var scope: Pause.Scope
    package var alertsOnly: Bool
    package var reason: String?

    /// Reads the body of `POST /v1/pauses`; throws every fault it finds.
    package init(reading view: JSONView) throws(FieldErrors) {
        var reader = FieldReader(view)
        var scopes: [Pause.Scope] = []
        if reader.bool("all") == true { scopes.append(.all) }
        if let app = reader.string("app") { scopes.append(.app(app)) }
        if let type = reader.string("type") { scopes.append(.type(type)) }
        if let activity = reader.identifier("activity") { scopes.append(.activity(activity)) }
        alertsOnly = reader.bool("alerts_only") ?? false
        reason = reader.string("reason")
        if let reason, reason.unicodeScalars.count > Pause.reasonMax {
            reader.fail("reason", "must have at most \(Pause.reasonMax) characters")
        }
        if scopes.count != 1 {
            reader.fail("all", "give exactly one of all, app, type or activity")
        }
        scope = scopes.first ?? .all
        try reader.finish()
    }
}

/// An operator's command about pauses.
package enum PauseCommand: Hashable, Sendable {
    case pause(PauseRequest)
    /// The pause by its serial.
    case resume(Int64)
}

extension Pause {
    /// The record's bytes.
    func encoded() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("tenant", tenant.name.rawValue)
        switch scope {
        case .all: break
        case .app(let app): writer.member("app", app)
        case .type(let type): writer.member("type", type)
        case .activity(let id): writer.member("activity", id.rawValue)
        }
        writer.member("alerts_only", alertsOnly)
        if let reason { writer.member("reason", reason) }
        writer.member("since", since.nanoseconds)
        writer.member("serial", serial)
        if key.isKnown { writer.member("by", key.id) }
        writer.endObject()
        return writer.bytes
    }

    /// The record of a pause that is over.
    func ended() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("tenant", tenant.name.rawValue)
        writer.member("ended_serial", serial)
        writer.endObject()
        return writer.bytes
    }

    /// The tenant and the serial of a pause that is over; nil if the record is of another kind.
    static func ended(record bytes: [UInt8]) -> (tenant: TenantID, serial: Int64)? {
        // Damage is the answer.
        guard let view = (try? JSONDocument(bytes))?.root,
            let tenant = view["tenant"]?.string.flatMap(Identifier.init),
            let serial = view["ended_serial"]?.storedCount
        else { return nil }
        return (TenantID(tenant), serial)
    }

    /// Nil if the bytes are no pause: the caller reports and sets them aside.
    init?(record bytes: [UInt8], number: Int64) {
        guard let document = try? JSONDocument(bytes) else { return nil }  // damage is the answer
        let view = document.root
        guard let tenant = view["tenant"]?.string.flatMap(Identifier.init),
            let since = view["since"]?.integer
        else { return nil }
        self.number = number
        // Older relays counted over all tenants.
        serial = view["serial"]?.integer ?? number
        self.tenant = TenantID(tenant)
        if let app = view["app"]?.string {
            scope = .app(app)
        } else if let type = view["type"]?.string {
            scope = .type(type)
        } else if let activity = view["activity"]?.string.flatMap(Identifier.init) {
            scope = .activity(activity)
        } else {
            scope = .all
        }
        alertsOnly = view["alerts_only"]?.bool ?? false
        reason = view["reason"]?.string
        self.since = Instant(nanoseconds: since)
        key = view["by"]?.string.map { AskingKey(id: $0) } ?? .unknown
    }
}
