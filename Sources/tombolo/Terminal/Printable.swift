/// Text for a terminal: other people wrote parts of it, and only their letters get there.
enum Printable {
    /// A line without characters that would move the cursor, colour the terminal, or turn the
    /// direction of writing.
    static func line(_ line: String) -> String { cleaned(line, keepsLines: false) }

    /// The same of several lines.
    static func lines(_ text: String) -> String { cleaned(text, keepsLines: true) }

    private static func cleaned(_ text: String, keepsLines: Bool) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control where keepsLines && scalar == "\n": result.append(scalar)
            case .control, .format, .lineSeparator, .paragraphSeparator: result.append("?")
            default: result.append(scalar)
            }
        }
        return String(result)
    }
}
