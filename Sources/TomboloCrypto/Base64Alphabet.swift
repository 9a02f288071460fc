/// An alphabet of 64 characters for one of the encodings of RFC 4648; encodes and decodes.
struct Base64Alphabet: Sendable {
    private static let padding = UInt8(ascii: "=")
    /// Marks characters in `values` that are outside of the alphabet.
    private static let foreign: UInt8 = 255

    private let characters: [UInt8]
    private let values: [UInt8]

    init(sixtyThird: UInt8, sixtyFourth: UInt8) {
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
        let characters = [UInt8](letters.utf8) + [sixtyThird, sixtyFourth]
        var values = [UInt8](repeating: Self.foreign, count: 256)
        for (value, character) in characters.enumerated() {
            values[Int(character)] = UInt8(value)
        }
        self.characters = characters
        self.values = values
    }

    func encode(_ bytes: [UInt8], padded: Bool) -> String {
        guard !bytes.isEmpty else { return "" }
        let whole = (bytes.count + 2) / 3 * 4
        return String(unsafeUninitializedCapacity: whole) { text in
            var length = 0
            for start in stride(from: 0, to: bytes.count, by: 3) {
                let group = bytes[start..<min(start + 3, bytes.count)]
                var bits: UInt32 = 0
                for place in 0..<3 {
                    bits = bits << 8 | (place < group.count ? UInt32(group[start + place]) : 0)
                }
                for place in 0..<4 {
                    let significant = place <= group.count
                    guard significant || padded else { break }
                    let value = Int(bits >> UInt32(18 - 6 * place) & 63)
                    text[length] = significant ? characters[value] : Self.padding
                    length += 1
                }
            }
            return length
        }
    }

    /// The bytes of characters without their padding; nil for a foreign character, an impossible
    /// length, or unused bits that are not zero.
    func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var bits: UInt32 = 0
        var held = 0
        for character in text {
            let value = values[Int(character)]
            guard value != Self.foreign else { return nil }
            bits = (bits << 6 | UInt32(value)) & 0xFFFF
            held += 6
            if held >= 8 {
                held -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(held)))
            }
        }
        let unused = bits & ((1 << UInt32(held)) - 1)
        return unused == 0 ? bytes : nil
    }
}
