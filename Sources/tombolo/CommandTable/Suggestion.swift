import TomboloCore

/// Guesses which word was meant by a wrong one.
enum Suggestion {
    /// The only candidate that begins with `word`, else the one with the most similar spelling. Nil
    /// if none is similar enough.
    static func nearest(to word: String, among candidates: [String]) -> String? {
        let begun = candidates.filter { $0.hasPrefix(word) }
        if word.utf8.count >= 2, begun.count == 1 { return begun[0] }
        return nearestName(to: word, among: candidates)
    }

    /// Returns `"; did you mean X?"`, or an empty text.
    static func question(_ word: String, among candidates: [String]) -> String {
        nearest(to: word, among: candidates).map { "; did you mean \($0)?" } ?? ""
    }
}
