package import TomboloJSON

/// An operator's pause (pacing rule 16). Events are still accepted, but no push is sent. When the
/// pause ends, only the newest state is sent.
package struct Pause: Hashable, Sendable {
    /// What a pause holds back.
    package enum Scope: Hashable, Sendable {
        /// All pushes of the tenant.
        case all
        case app(String)
        case type(String)
        case activity(Identifier)
    }

    /// The pause's number among the records of all tenants.
    package let number: Int64
    /// The pause's number among those of its tenant; it is named `pause_<serial>`.
    package let serial: Int64
    package let tenant: TenantID
    package let scope: Scope
    /// True if only starts wait, and updates are sent without their alerts.
    package let alertsOnly: Bool
    /// Why it was begun, as text for other operators.
    package let reason: String?
    /// Maximum number of characters in a reason.
    package static let reasonMax = 500
    package let since: Instant
    /// The API key that began it.
    package var key = AskingKey.unknown

    package var name: String { "pause_\(serial)" }

    /// Maximum number of a tenant's pauses, because each push is checked against all.
    static let countMax = 100

    /// The serial in a name such as `pause_7`; nil for another text.
    package static func serial(ofName name: String) -> Int64? {
        guard name.hasPrefix("pause_"), let serial = Int64(name.dropFirst(6)), serial > 0 else {
            return nil
        }
        return serial
    }
}

/// An operator's request to begin a pause.
package struct PauseRequest: Hashable, Sendable {
    package var scope: Pause.Scope
    package var alertsOnly: Bool
    package var reason: String?

    /// Reads the body of `POST /v1/pauses`. Throws `FieldErrors` with all faults.
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
        // One of the wrong shape has its fault already.
        if scopes.count > 1 || reader.errors.isEmpty && scopes.isEmpty {
            reader.fail("all", "give exactly one of all, app, type or activity")
        }
        scope = scopes.first ?? .all
        try reader.finish()
    }
}

/// Begins or ends a pause.
package enum PauseCommand: Hashable, Sendable {
    case pause(PauseRequest)
    /// Ends the pause with this serial.
    case resume(Int64)
}

extension Pause {
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

    /// The bytes of the record after the pause is over.
    func ended() -> [UInt8] {
        JSONWriter.objectBytes { writer in
            writer.member("tenant", tenant.name.rawValue)
            writer.member("ended_serial", serial)
        }
    }

    /// Tenant and serial in such a record; nil if the record is another one.
    static func ended(record bytes: [UInt8]) -> (tenant: TenantID, serial: Int64)? {
        // The nil result reports the damage, so the error is dropped.
        guard let view = (try? JSONDocument(bytes))?.root,
            let tenant = view["tenant"]?.string.flatMap(Identifier.init),
            let serial = view["ended_serial"]?.storedCount
        else { return nil }
        return (TenantID(tenant), serial)
    }

    /// Returns nil if the bytes are not a pause. The caller then reports the record.
    init?(record bytes: [UInt8], number: Int64) {
        guard let document = try? JSONDocument(bytes) else { return nil }  // nil reports damage
        let view = document.root
        guard let tenant = view["tenant"]?.string.flatMap(Identifier.init),
            let since = view["since"]?.integer
        else { return nil }
        self.number = number
        // Records of older relays have no serial; then the number was also the serial.
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
