package import TomboloCore

/// A position in a tenant's log: the log's id, and the last command and the last fact before it.
/// Clients store the text and send it back unchanged.
package struct LogCursor: Hashable, Sendable {
    package let log: LogID
    package var place: LogPlace

    /// - Parameter log: the tenant's log.
    package init(_ log: LogID, _ place: LogPlace) {
        (self.log, self.place) = (log, place)
    }

    /// Parses a text that `text` has written; nil for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let log = LogID(parts[0]), let command = Self.number(parts[1]),
            let fact = Self.number(parts[2])
        else { return nil }
        self.init(log, LogPlace(command: command, fact: fact))
    }

    package var text: String { "\(log.text)-\(place.command)-\(place.fact)" }

    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}
