import TomboloJSON

/// Idempotency keys of the actions of the last 24 hours, and the number of recent actions of each
/// device. The content of actions is not stored.
///
/// Entries belong to the device's name, so a new registration does not reset its limit.
struct ActionTable: Sendable {
    private struct Key: Hashable, Sendable {
        var device: DeviceKey
        var text: String
    }

    private struct Kept: Sendable {
        var taken: Stored.TakenAction
        var digest: UInt64
        var number: Int64
    }

    /// Number of actions that a device posted within the minute that began at `since`.
    private struct Minute: Sendable {
        var since: Instant
        var count: Int
    }

    private var kept: [Key: Kept] = [:]
    /// Keys in order of arrival, with their monotonic times.
    private var order: [(key: Key, at: Instant)] = []
    private var minutes: [DeviceKey: Minute] = [:]
    private var nextNumber: Int64 = 1

    /// Maximum number of keys, of 0.2 kB each. Above it the oldest key is dropped early.
    static let keptMax = 100_000
    /// Maximum number of actions of a device in a minute. People tap less, and each action is a
    /// fact in the log.
    static let perMinuteMax = 60

    /// The answer to an earlier request with the same key; nil if there was none. Throws if the
    /// bodies differ.
    func earlier(
        _ action: DeviceAction, of device: DeviceKey
    ) throws(Refusal) -> Stored.TakenAction? {
        guard let key = action.idempotency,
            let known = kept[Key(device: device, text: key.key)]
        else { return nil }
        guard known.digest == key.bodyDigest else {
            throw Refusal(
                .idempotencyKeyReused,
                "this idempotency key belongs to another action; give each tap a key of its own")
        }
        return known.taken
    }

    /// Counts an action of a device. Throws if the device has posted too many in this minute.
    mutating func count(_ device: DeviceKey, now: Instant) throws(Refusal) {
        var minute = minutes[device] ?? Minute(since: now, count: 0)
        if now - minute.since >= .minutes(1) { minute = Minute(since: now, count: 0) }
        guard minute.count < Self.perMinuteMax else {
            let left = minute.since + .minutes(1) - now
            var refusal = Refusal(
                .overloaded,
                "the device has posted \(Self.perMinuteMax) actions within a minute, and may post "
                    + "the next one in \(left.text); send one for each tap")
            refusal.retryAfter = left
            throw refusal
        }
        minute.count += 1
        if minutes.count > Self.keptMax { minutes = [:] }
        minutes[device] = minute
    }

    /// Accepts an action. Returns its id and expiry, and the records to write.
    mutating func takeAction(
        _ action: DeviceAction, of device: DeviceKey, _ chance: inout Chance, now: Instant
    ) -> (Stored.TakenAction, [Record]) {
        let digits = String(chance.next(), radix: 16)
        let id = "act_" + String(repeating: "0", count: 16 - digits.utf8.count) + digits
        let taken = Stored.TakenAction(id: id, expiresAt: action.at + action.expires)
        guard let key = action.idempotency else { return (taken, []) }
        var records = forget(until: now - IdempotencyKey.window)
        if kept.count >= Self.keptMax, let oldest = order.first {
            records += forget(until: oldest.at)
        }
        let one = Kept(taken: taken, digest: key.bodyDigest, number: nextNumber)
        nextNumber += 1
        let place = Key(device: device, text: key.key)
        kept[place] = one
        order.append((place, now))
        records.append(Self.record(one, place, at: now))
        return (taken, records)
    }

    /// Erases the entries of a device. Returns the records that delete them in the log.
    mutating func forget(device: DeviceKey) -> [Record] {
        minutes[device] = nil
        let gone = order.filter { $0.key.device == device }
        guard !gone.isEmpty else { return [] }
        order.removeAll { $0.key.device == device }
        return gone.compactMap { remove($0.key) }
    }

    private mutating func forget(until instant: Instant) -> [Record] {
        let gone = order.prefix { $0.at <= instant }
        guard !gone.isEmpty else { return [] }
        order.removeFirst(gone.count)
        return gone.compactMap { remove($0.key) }
    }

    private mutating func remove(_ key: Key) -> Record? {
        kept.removeValue(forKey: key).map {
            Record(space: .action, number: $0.number, value: nil)
        }
    }

    // MARK: Records

    private static func record(_ one: Kept, _ key: Key, at now: Instant) -> Record {
        Record(space: .action, number: one.number) { writer in
            writer.member("tenant", key.device.tenant.name.rawValue)
            writer.member("device", key.device.id.rawValue)
            writer.member("key", key.text)
            writer.member("digest", Int64(bitPattern: one.digest))
            writer.member("action", one.taken.id)
            writer.member("expires", one.taken.expiresAt.nanoseconds)
            writer.member("at", now.nanoseconds)
        }
    }

    /// Restores an action from its record. Records must come in the order of their numbers. Returns
    /// a text if the record is damaged.
    ///
    /// - Parameter name: finds a device by number, because older relays stored numbers, not names.
    mutating func adopt(_ record: Record, name: (Int64) -> DeviceKey?) -> [String] {
        nextNumber = max(nextNumber, record.number + 1)
        let view = record.value.flatMap { try? JSONDocument($0) }?.root  // nil is handled below
        if let number = view?["device"]?.integer, name(number) == nil { return [] }
        guard let view, let device = Self.device(view) ?? view["device"]?.integer.flatMap(name),
            let text = view["key"]?.string,
            let digest = view["digest"]?.integer, let id = view["action"]?.string,
            // From the phone's own time, of any year; it is only compared.
            let expires = view["expires"]?.integer, let at = view["at"]?.storedInstant
        else { return ["the record of action number \(record.number) cannot be read"] }
        let key = Key(device: device, text: text)
        kept[key] = Kept(
            taken: Stored.TakenAction(id: id, expiresAt: Instant(nanoseconds: expires)),
            digest: UInt64(bitPattern: digest),
            number: record.number)
        order.append((key, at))
        return []
    }

    private static func device(_ view: JSONView) -> DeviceKey? {
        guard let tenant = view["tenant"]?.string.flatMap(Identifier.init),
            let id = view["device"]?.string.flatMap(Identifier.init)
        else { return nil }
        return DeviceKey(tenant: TenantID(tenant), id: id)
    }
}
