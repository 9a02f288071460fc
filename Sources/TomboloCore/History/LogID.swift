/// Which log a position belongs to. A position of another log leads nowhere: what it names may
/// never have been in this one.
package struct LogID: Hashable, Sendable {
    private let value: UInt32

    /// - Parameter hash: its lower half counts.
    package init(_ hash: UInt64) { value = UInt32(truncatingIfNeeded: hash) }

    /// Reads eight hexadecimal digits.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == 8, let value = UInt32(text, radix: 16) else { return nil }
        self.value = value
    }

    package var text: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 8 - digits.utf8.count) + digits
    }
}
