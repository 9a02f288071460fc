/// The `apns-id` of a push: a UUID (RFC 9562) in 16 bytes.
package struct APNsID: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads 32 hexadecimal digits, with or without hyphens. Returns nil for other texts.
    package init?(text: some StringProtocol) {
        let digits = String(text.utf8.count == 36 ? text.filter { $0 != "-" } : Array(text))
        guard digits.utf8.count == 32, digits.utf8.allSatisfy({ $0 < 0x80 }),
            let high = UInt64(digits.prefix(16), radix: 16),
            let low = UInt64(digits.suffix(16), radix: 16), !digits.contains("+")
        else { return nil }
        self.init(high: high, low: low)
    }

    /// The delivery's id in answers: `dlv_` and the 32 digits.
    package var deliveryID: String { "dlv_" + text.filter { $0 != "-" } }

    /// The UUID as APNs writes it, in lower case with hyphens.
    package var text: String {
        String(unsafeUninitializedCapacity: 36) { buffer in
            var place = 0
            for index in 0..<32 {
                if index == 8 || index == 12 || index == 16 || index == 20 {
                    buffer[place] = UInt8(ascii: "-")
                    place += 1
                }
                let word = index < 16 ? high : low
                let digit = UInt8(word >> UInt64((15 - index % 16) * 4) & 0xf)
                buffer[place] = digit < 10 ? 0x30 + digit : 0x57 + digit
                place += 1
            }
            return 36
        }
    }
}
