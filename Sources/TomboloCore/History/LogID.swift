/// Identifies a log. A position in another log is refused, because the same number may mean another
/// row here.
package struct LogID: Hashable, Sendable {
    private let value: UInt32

    /// - Parameter hash: only its lower 32 bits are used.
    package init(_ hash: UInt64) { value = UInt32(truncatingIfNeeded: hash) }

    /// Parses eight hexadecimal digits. Returns nil for other texts.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == 8, let value = UInt32(text, radix: 16) else { return nil }
        self.value = value
    }

    package var text: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 8 - digits.utf8.count) + digits
    }
}
