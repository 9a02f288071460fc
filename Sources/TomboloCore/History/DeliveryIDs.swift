/// The `apns-id`s of a relay: each says, to those who have the key, behind which fact of the log
/// its push is on record. So a delivery is found by its `apns-id` without an index.
///
/// A UUID of version 8 (RFC 9562): 48 bits hold the sequence, the others are random. To those
/// without the key it tells nothing: neither the sequence nor how many pushes others send.
package struct DeliveryIDs: Sendable {
    private let hash: KeyedHash
    private let restoredAt: Instant?

    /// - Parameters:
    ///   - hash: with the log's own key.
    ///   - restoredAt: when the log was put back from a backup last.
    package init(_ hash: KeyedHash, restoredAt: Instant? = nil) {
        self.hash = hash
        self.restoredAt = restoredAt
    }

    /// One of a push that goes now; its fact comes after the one at `factSeq`.
    func make(after factSeq: Int64, _ chance: inout Chance) -> APNsID {
        let nonce = chance.next() & 0xfff
        let low = chance.next() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000
        let place = UInt64(factSeq) & Self.placeMax
        let high = (place ^ mask(nonce, low)) << 16 | 0x8000 | nonce
        return APNsID(high: high, low: low)
    }

    /// The fact behind which its push is on record; nil where no relay with this key has made it.
    /// What nobody has made gives some number, too: the facts behind it say that there is none.
    package func place(of id: APNsID) -> Int64? {
        guard id.high & 0xf000 == 0x8000, id.low >> 62 == 2 else { return nil }
        return Int64((id.high >> 16) ^ mask(id.high & 0xfff, id.low))
    }

    /// Whose device it was, so that a fact needs no name: a hash that this log alone can make.
    package func owner(_ user: String, _ tenant: TenantID) -> Int64 {
        // A number of JSON keeps 53 bits everywhere.
        Int64(hash(Int64(tenant.name.rawValue.utf8.count), "user \(tenant.name) \(user)") >> 12)
    }

    /// A link as a hash that this log alone can make.
    func link(_ link: String) -> Int64 { Int64(hash(Int64(0), "link \(link)") >> 12) }

    /// Which log this is, for one tenant: another one where the log was made anew, or was put back
    /// from a backup.
    package func log(of tenant: TenantID) -> LogID {
        LogID(hash(restoredAt?.nanoseconds ?? 0, "log \(tenant.name)"))
    }

    private func mask(_ nonce: UInt64, _ low: UInt64) -> UInt64 {
        // A use of its own: keys of requests are hashed behind small numbers of tenants.
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
