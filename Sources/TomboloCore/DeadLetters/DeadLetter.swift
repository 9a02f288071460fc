import TomboloJSON

/// A push that Apple refused and that the relay does not repeat, with the cause.
package struct DeadLetter: Hashable, Sendable {
    /// The letter's number among the records of all tenants.
    package let number: Int64
    /// The letter's number among those of its tenant.
    package let serial: Int64
    package var activity: ActivityKey
    package var incarnation: Int64
    /// Number of the card in the incarnation on the device (`ActivityReference`).
    package var renewal: Int64
    package var device: Identifier
    package var event: Push.Event
    package var version: Int64
    package var status: Int
    package var reason: String
    package var apnsID: String
    package var at: Instant

    package var id: String { "dead_\(serial)" }

    /// The card to which the push went.
    struct Card: Hashable {
        var activity: ActivityKey
        var incarnation: Int64
        var renewal: Int64
        var device: Identifier
    }

    var card: Card {
        Card(activity: activity, incarnation: incarnation, renewal: renewal, device: device)
    }

    /// The serial in an `id`; nil if `id` has another form.
    package static func serial(id: String) -> Int64? {
        id.hasPrefix("dead_") ? Int64(id.dropFirst(5)) : nil
    }

    /// The event's name in payloads.
    package var eventName: String {
        switch event {
        case .start: "start"
        case .update: "update"
        case .end: "end"
        }
    }

    func record() -> Record {
        Record(space: .deadLetter, number: number) { writer in
            writer.member("tenant", activity.tenant.name.rawValue)
            writer.member("activity", activity.id.rawValue)
            writer.member("incarnation", incarnation)
            if renewal > 0 { writer.member("renewal", renewal) }
            writer.member("device", device.rawValue)
            writer.member("event", Int64(event.rawValue))
            writer.member("version", version)
            writer.member("status", status)
            writer.member("reason", reason)
            writer.member("apns_id", apnsID)
            writer.member("at", at.nanoseconds)
            writer.member("serial", serial)
        }
    }
}

extension DeadLetter {
    /// Returns nil if the bytes are not a valid dead letter. The caller then reports the record.
    init?(record bytes: [UInt8], number: Int64) {
        guard let view = (try? JSONDocument(bytes))?.root,  // nil reports damage
            let tenant = view["tenant"]?.string.flatMap(Identifier.init),
            let id = view["activity"]?.string.flatMap(Identifier.init),
            let device = view["device"]?.string.flatMap(Identifier.init),
            let event = view["event"]?.integer
                .flatMap({ Push.Event(rawValue: UInt8(clamping: $0)) }),
            let incarnation = view["incarnation"]?.storedCount,
            let version = view["version"]?.storedCount, let status = view["status"]?.storedCount,
            let reason = view["reason"]?.string, let apnsID = view["apns_id"]?.string,
            let at = view["at"]?.integer
        else { return nil }
        self.init(
            // Records of older relays have no serial; then the number was also the serial.
            number: number, serial: view["serial"]?.storedCount ?? number,
            activity: ActivityKey(tenant: TenantID(tenant), id: id),
            incarnation: incarnation, renewal: view["renewal"]?.storedCount ?? 0, device: device,
            event: event, version: version,
            status: Int(status), reason: reason, apnsID: apnsID, at: Instant(nanoseconds: at))
    }
}

/// A selection of dead letters: a letter must match all members that are not nil.
package struct DeadLetterQuery: Hashable, Sendable {
    package var tenant: TenantID
    package var serial: Int64?
    package var activity: Identifier?
    package var device: Identifier?
    package var reason: String?
    package var apnsID: APNsID?
    /// Serials to select; nil: all.
    package var serials: Set<Int64>?

    /// A retry handles at most this many letters in one step (or all letters of one card), so that
    /// other requests do not wait long.
    package static let pieceMax = 256

    package init(tenant: TenantID) { self.tenant = tenant }

    func matches(_ letter: DeadLetter) -> Bool {
        letter.activity.tenant == tenant && serials?.contains(letter.serial) != false
            && serial ?? letter.serial == letter.serial
            && activity ?? letter.activity.id == letter.activity.id
            && device ?? letter.device == letter.device && reason ?? letter.reason == letter.reason
            && apnsID?.text ?? letter.apnsID == letter.apnsID
    }
}
