/// Identifies a log. A position in another log is refused, because the same number may mean another
/// row here.
package struct LogID: Hashable, Sendable {
    /// Eight hexadecimal digits.
    package let text: String

    /// - Parameter hash: only its lower 32 bits are used.
    package init(_ hash: UInt64) {
        let digits = String(UInt32(truncatingIfNeeded: hash), radix: 16)
        text = String(repeating: "0", count: 8 - digits.utf8.count) + digits
    }

    /// Parses eight hexadecimal digits. Returns nil for other texts.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == 8, let value = UInt32(text, radix: 16) else { return nil }
        self.init(UInt64(value))
    }
}
