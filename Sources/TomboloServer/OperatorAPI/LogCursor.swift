/// Where a listing of the log goes on: after which command, and after which fact. Opaque to those
/// who pass it.
struct LogCursor: Hashable, Sendable {
    var command: Int64 = 0
    var fact: Int64 = 0

    init() {}

    /// Reads `c12`, `f7` or `c12f7`.
    init?(_ text: String) {
        let digits = text.split(separator: "f", omittingEmptySubsequences: false)
        guard digits.count <= 2, let first = digits.first else { return nil }
        if !first.isEmpty {
            guard first.hasPrefix("c"), let command = Self.number(first.dropFirst()) else {
                return nil
            }
            self.command = command
        }
        if digits.count == 2 {
            guard let fact = Self.number(digits[1]) else { return nil }
            self.fact = fact
        } else if first.isEmpty {
            return nil
        }
    }

    private static func number(_ text: Substring) -> Int64? {
        guard let number = Int64(text), number >= 0 else { return nil }
        return number
    }

    var text: String { "c\(command)f\(fact)" }
}
