/// Makes the `apns-id` of each push. With the log's key, an `apns-id` reveals after which fact the
/// push is recorded, so the log needs no index to find a delivery.
///
/// The id is a UUID of version 8 (RFC 9562). 48 bits contain the encrypted number of that fact; the
/// others are random. Without the key, the id reveals nothing.
package struct DeliveryIDs: Sendable {
    private let hash: KeyedHash
    private let restoredAt: Instant?

    /// - Parameters:
    ///   - hash: a hash with the log's own key.
    ///   - restoredAt: when the log was last restored from a backup.
    package init(_ hash: KeyedHash, restoredAt: Instant? = nil) {
        self.hash = hash
        self.restoredAt = restoredAt
    }

    /// Makes the id of a push that is sent now. The push's fact will follow `factSeq`.
    func make(after factSeq: Int64, _ chance: inout Chance) -> APNsID {
        let nonce = chance.next() & 0xfff
        let low = chance.next() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000
        let place = UInt64(factSeq) & Self.placeMax
        let high = (place ^ mask(nonce, low)) << 16 | 0x8000 | nonce
        return APNsID(high: high, low: low)
    }

    /// The number of the fact after which the push is recorded; nil if the id has another form. For
    /// an id of another relay the number is wrong; the facts after it do not contain the id.
    package func place(of id: APNsID) -> Int64? {
        guard id.high & 0xf000 == 0x8000, id.low >> 62 == 2 else { return nil }
        return Int64((id.high >> 16) ^ mask(id.high & 0xfff, id.low))
    }

    /// A hash of a device's user. Facts contain it instead of the name. Only this log can compute
    /// it.
    package func owner(_ user: String, _ tenant: TenantID) -> Int64 {
        // Shortened, because JSON numbers are exact up to 53 bits only.
        Int64(hash(Int64(tenant.name.rawValue.utf8.count), "user \(tenant.name) \(user)") >> 12)
    }

    /// A hash of a device's name, for what is known of an erased one.
    func deviceHash(_ key: DeviceKey) -> Int64 {
        let tenant = key.tenant.name
        return Int64(hash(Int64(tenant.rawValue.utf8.count), "device \(tenant) \(key.id)") >> 12)
    }

    /// A shortened hash of a link, which only this log can compute.
    func link(_ link: String) -> Int64 { Int64(hash(Int64(0), "link \(link)") >> 12) }

    /// The log's id for one tenant. It changes if the log is created again or restored from a
    /// backup.
    package func log(of tenant: TenantID) -> LogID {
        LogID(hash(restoredAt?.nanoseconds ?? 0, "log \(tenant.name)"))
    }

    private func mask(_ nonce: UInt64, _ low: UInt64) -> UInt64 {
        // The prefix makes these inputs differ from those of the hashes of idempotency keys.
        let mixed = hash(low, "apns-id \(nonce)")
        return mixed & Self.placeMax
    }

    private static let placeMax: UInt64 = 1 << 48 - 1
}

extension KeyedHash {
    /// The hash of `number`, followed by the UTF-8 bytes of `text`.
    fileprivate func callAsFunction(_ number: UInt64, _ text: String) -> UInt64 {
        self(Int64(bitPattern: number), text)
    }
}
