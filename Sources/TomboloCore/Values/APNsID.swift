/// The `apns-id` of a push: a UUID (RFC 9562), in 16 bytes.
package struct APNsID: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The canonical lower-case form that APNs asks for.
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
