/// Makes the `apns-id`s of a relay. With the log's key, an `apns-id` reveals the place in the log
/// after which the push is recorded, so deliveries are found without an index.
///
/// A UUID of version 8 (RFC 9562): 48 bits contain the encrypted place, the others are random.
/// Without the key it reveals nothing, neither the place nor the number of pushes.
package struct DeliveryIDs: Sendable {
    private let hash: KeyedHash
    private let restoredAt: Instant?

    /// - Parameters:
    ///   - hash: uses the log's own key.
    ///   - restoredAt: when the log was last restored from a backup.
    package init(_ hash: KeyedHash, restoredAt: Instant? = nil) {
        self.hash = hash
        self.restoredAt = restoredAt
    }

    /// Makes the id of a push that is sent now; its fact comes after `factSeq`.
    func make(after factSeq: Int64, _ chance: inout Chance) -> APNsID {
        let nonce = chance.next() & 0xfff
        let low = chance.next() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000
        let place = UInt64(factSeq) & Self.placeMax
        let high = (place ^ mask(nonce, low)) << 16 | 0x8000 | nonce
        return APNsID(high: high, low: low)
    }

    /// The place after which the push is recorded; nil if the id is not of this form. A foreign id
    /// of this form gives a wrong place, whose facts do not contain the id.
    package func place(of id: APNsID) -> Int64? {
        guard id.high & 0xf000 == 0x8000, id.low >> 62 == 2 else { return nil }
        return Int64((id.high >> 16) ^ mask(id.high & 0xfff, id.low))
    }

    /// A hash of the device's user that only this log can compute, so that facts need no name.
    package func owner(_ user: String, _ tenant: TenantID) -> Int64 {
        // JSON numbers are exact up to 53 bits.
        Int64(hash(Int64(tenant.name.rawValue.utf8.count), "user \(tenant.name) \(user)") >> 12)
    }

    /// A hash of a link that only this log can compute.
    func link(_ link: String) -> Int64 { Int64(hash(Int64(0), "link \(link)") >> 12) }

    /// The id of this log for one tenant. It changes when the log is created anew or restored.
    package func log(of tenant: TenantID) -> LogID {
        LogID(hash(restoredAt?.nanoseconds ?? 0, "log \(tenant.name)"))
    }

    private func mask(_ nonce: UInt64, _ low: UInt64) -> UInt64 {
        // Separate from the hashes of idempotency keys, which use small tenant numbers.
        let mixed = hash(low, "apns-id \(nonce)")
        return mixed & Self.placeMax
    }

    private static let placeMax: UInt64 = 1 << 48 - 1
}

extension KeyedHash {
    /// The hash of `number` followed by the UTF-8 of `text`.
    fileprivate func callAsFunction(_ number: UInt64, _ text: String) -> UInt64 {
        self(Int64(bitPattern: number), text)
    }
}
