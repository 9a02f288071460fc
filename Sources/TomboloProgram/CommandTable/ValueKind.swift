import TomboloCore

/// The kind of a flag's or an argument's value. The parser checks values by it, `help` shows it,
/// and completions offer its values.
package enum ValueKind: Hashable, Sendable {
    /// Any text; `name` is its placeholder in `help`.
    case text(_ name: String)
    /// `http://HOST:PORT` or `https://HOST:PORT`, without a path.
    case origin
    /// `HOST:PORT`. Port 0 means that the system chooses one.
    case address
    case file
    case directory
    /// A number with unit: `ns`, `ms`, `s`, `m`, `h` or `d`.
    case duration
    case integer(ClosedRange<Int>)
    case choice([String])
    /// `NAME=VALUE`.
    case pair

    var placeholder: String {
        switch self {
        case .text(let name): name
        case .origin: "ORIGIN"
        case .address: "HOST:PORT"
        case .file: "FILE"
        case .directory: "DIR"
        case .duration: "DURATION"
        case .integer: "N"
        case .choice(let words): words.joined(separator: "|")
        case .pair: "NAME=VALUE"
        }
    }

    /// What keeps a text from being an origin, if it can be said.
    private static func lack(ofOrigin text: String) -> String {
        if text.contains(where: \.isNewline) { return ": it has a line end" }
        if text.contains(where: \.isWhitespace) { return ": it has a space" }
        return text.contains("://") ? "" : ": it has no scheme"
    }

    /// Why `text` is not valid; nil if it is valid. Completes a sentence: `the value …`.
    func objection(to text: String) -> String? {
        switch self {
        case .text:
            return text.isEmpty ? "is empty" : nil
        case .file, .directory:
            if text.first == "{" || text.first == "[" {
                return "is JSON, and the name of a file is asked for"
            }
            return text.isEmpty || text.utf8.contains(0) ? "is not a path" : nil
        case .origin:
            guard Origin(text) == nil else { return nil }
            let meant = Origin.near(text).map(\.description) ?? "http://127.0.0.1:8780"
            return "is not an origin\(Self.lack(ofOrigin: text)); write \(meant) (no path)"
        case .address:
            return SocketAddressText(text) == nil
                ? "is not HOST:PORT; write 127.0.0.1:8780 or [::1]:8780" : nil
        case .duration:
            return Span(text: text) == nil
                ? "is not a duration; write 500ms, 5s, 10m or 2h" : nil
        case .integer(let range):
            guard let number = Int(text), range.contains(number) else {
                return "is not a whole number from \(range.lowerBound) to \(range.upperBound)"
            }
            return nil
        case .choice(let words):
            guard !words.contains(text) else { return nil }
            return "is not one of \(words.joined(separator: ", "))"
                + Suggestion.question(text, among: words)
        case .pair:
            return text.utf8.firstIndex(of: UInt8(ascii: "=")).map { $0 > text.startIndex } == true
                ? nil : "is not NAME=VALUE"
        }
    }
}
