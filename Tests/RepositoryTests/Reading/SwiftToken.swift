/// A word, a symbol of one character, or a string literal of Swift source.
struct SwiftToken: Equatable {
    /// What a token is. Words include keywords, names and numbers.
    enum Kind { case word, symbol, string }

    let kind: Kind
    /// The word; the one character; the literal's content without its delimiters, escapes unread.
    let text: String
    /// From 1.
    let line: Int
    /// Whether nothing stands between the token before and this one: `try!` and `try !isOpen`
    /// differ.
    let isGlued: Bool

    /// Whether it is this word or symbol of code, not the content of a string.
    func isCode(_ text: String) -> Bool { kind != .string && self.text == text }
}
