import TomboloJSON

/// A push that Apple refused and that will not be sent again as it was: who lost what, and why.
package struct DeadLetter: Hashable, Sendable {
    /// Its place among the records of all tenants.
    package let number: Int64
    /// Counts up over the tenant's own.
    package let serial: Int64
    package var activity: ActivityKey
    package var incarnation: Int64
    /// Which card of the incarnation on the device (`ActivityReference`).
    package var renewal: Int64
    package var device: Identifier
    package var event: Push.Event
    package var version: Int64
    package var status: Int
    /// Apple's word.
    package var reason: String
    package var apnsID: String
    package var at: Instant

    package var id: String { "dead_\(serial)" }

    /// What a push goes to.
    struct Card: Hashable {
        var activity: ActivityKey
        var incarnation: Int64
        var renewal: Int64
        var device: Identifier
    }

    var card: Card {
        Card(activity: activity, incarnation: incarnation, renewal: renewal, device: device)
    }

    /// Reads `id`.
    package static func serial(id: String) -> Int64? {
        id.hasPrefix("dead_") ? Int64(id.dropFirst(5)) : nil
    }

    /// The word for the event, as in the payload.
    package var eventName: String {
        switch event {
        case .start: "start"
        case .update: "update"
        case .end: "end"
        }
    }

    func record() -> Record {
        var writer = JSONWriter()
        writer.beginObject()
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
        writer.endObject()
        return Record(space: .deadLetter, number: number, value: writer.bytes)
    }
}

extension DeadLetter {
    /// Nil where the bytes are no dead letter: the caller reports and sets aside.
    init?(record bytes: [UInt8], number: Int64) {
        guard let view = (try? JSONDocument(bytes))?.root,  // damage is the answer
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
            // An older relay counted over all tenants.
            number: number, serial: view["serial"]?.storedCount ?? number,
            activity: ActivityKey(tenant: TenantID(tenant), id: id),
            incarnation: incarnation, renewal: view["renewal"]?.storedCount ?? 0, device: device,
            event: event, version: version,
            status: Int(status), reason: reason, apnsID: apnsID, at: Instant(nanoseconds: at))
    }
}

/// Which dead letters are meant: all that are given have to hold.
package struct DeadLetterQuery: Hashable, Sendable {
    package var tenant: TenantID
    package var serial: Int64?
    package var activity: Identifier?
    package var device: Identifier?
    package var reason: String?
    /// Of the push that Apple refused.
    package var apnsID: APNsID?
    /// Only letters with one of these serials; nil: with any.
    package var serials: Set<Int64>?

    /// A retry takes so many in one step, or those of one card: others wait no longer for it than
    /// for a few requests.
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
