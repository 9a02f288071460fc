/// Words that a tired engineer with another mother tongue reads twice. The field has a plainer word
/// for each.
enum PlainWordsRule {
    /// Each as it would be searched for: lower case, words apart by one space.
    static let words = [
        "stands", "told", "whoever", "nobody's", "mend", "mended", "mends", "none of", "let go",
        "anew", "for good", "where left out", "which go", "shows nowhere", "taken into use",
        "retried before",
    ]

    /// How often a text says any of them.
    static func count(in text: some StringProtocol) -> Int {
        let plain =
            " "
            + text.lowercased().map { isPart($0) ? $0 : " " }.reduce(into: "") {
                if $1 != " " || $0.last != " " { $0.append($1) }
            } + " "
        return words.reduce(0) { $0 + plain.ranges(of: " \($1) ").count }
    }

    private static func isPart(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "'"
    }

    /// In what is shown to users: strings of the sources, and every text that is not Swift.
    static func violations(in file: SwiftFile) -> [Violation] {
        file.tokens.filter { $0.kind == .string && count(in: $0.text) > 0 }.map { token in
            Violation(path: file.path, line: token.line, message: "say it in plain words")
        }
    }

    static func violations(path: String, text: String) -> [Violation] {
        text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .filter { count(in: $1) > 0 }.map { index, _ in
                Violation(path: path, line: index + 1, message: "say it in plain words")
            }
    }

    /// In comments, by room.
    static func comments(_ files: [SwiftFile]) -> [String: Int] {
        files.reduce(into: [:]) { counts, file in
            let room = file.path.split(separator: "/").dropFirst().first.map(String.init)
            counts[room ?? file.path, default: 0] += file.comments.values.reduce(0) {
                $0 + count(in: $1)
            }
        }
    }
}
