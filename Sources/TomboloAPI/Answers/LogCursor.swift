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

    /// The log's id, then the two numbers, with hyphens between.
    package var text: String {
        // Each answer has one, so it is written in place.
        String(unsafeUninitializedCapacity: 64) { output in
            var start = output.count
            func prepend(_ number: Int64) {
                var rest = number.magnitude
                repeat {
                    start -= 1
                    output[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                    rest /= 10
                } while rest > 0
                start -= 1
                output[start] = UInt8(ascii: "-")
            }
            prepend(place.fact)
            prepend(place.command)
            let digits = output[start...]
            var count = 0
            for byte in log.text.utf8 { (output[count], count) = (byte, count + 1) }
            for byte in digits { (output[count], count) = (byte, count + 1) }
            return count
        }
    }

    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}
