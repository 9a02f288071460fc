/// The API key that made a request, as the number in its id: twelve hexadecimal digits, 48 bits. A
/// row of the log contains the number.
package struct AskingKey: Hashable, Sendable {
    package let rawValue: Int64

    /// The key is not known: an older relay wrote the row, or no key was needed.
    package static let unknown = AskingKey(rawValue: 0)
    /// The relay itself, which has ended an activity because its producer was silent.
    package static let relay = AskingKey(rawValue: 0xffff_ffff_ffff)
    private static let digits = 12

    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// The key with this id; `unknown` if the text is not an id.
    package init(id: String) {
        if id == Self.relay.id {
            self = .relay
            return
        }
        let isID = id.utf8.count == Self.digits
        rawValue = isID ? Int64(id, radix: 16).map { max(0, $0) } ?? 0 : 0
    }

    package var isKnown: Bool { self != .unknown }

    /// The id in answers.
    package var id: String {
        guard isKnown else { return "unknown" }
        if self == .relay { return "relay" }
        let text = String(rawValue, radix: 16)
        return String(repeating: "0", count: max(0, Self.digits - text.utf8.count)) + text
    }
}
