/// The trace to which an event belongs: the trace id of W3C Trace Context, section 3.2.2.3, in 16
/// bytes.
package struct TraceID: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// Reads 32 lower-case hexadecimal digits that are not all 0. Returns nil for other texts.
    package init?(text: String) {
        let digits = Array(text.utf8)
        guard digits.count == 32 else { return nil }
        var (high, low): (UInt64, UInt64) = (0, 0)
        for digit in digits {
            let value: UInt8
            switch digit {
            case 0x30...0x39: value = digit - 0x30
            case 0x61...0x66: value = digit - 0x57
            default: return nil
            }
            high = high << 4 | low >> 60
            low = low << 4 | UInt64(value)
        }
        guard high | low != 0 else { return nil }
        (self.high, self.low) = (high, low)
    }

    /// The 32 digits.
    package var text: String { Self.digits(high) + Self.digits(low) }

    private static func digits(_ word: UInt64) -> String {
        let text = String(word, radix: 16)
        return String(repeating: "0", count: 16 - text.utf8.count) + text
    }
}
