import TomboloCore

/// Finds what somebody meant who wrote something else.
enum Suggestion {
    /// The candidate that `word` begins, if it is the only one, or the one that is spelled most
    /// like it; nil where none is near enough to be what was meant.
    static func nearest(to word: String, among candidates: [String]) -> String? {
        let begun = candidates.filter { $0.hasPrefix(word) }
        if word.utf8.count >= 2, begun.count == 1 { return begun[0] }
        return nearestName(to: word, among: candidates)
    }

    /// `"; did you mean X?"`, or nothing.
    static func question(_ word: String, among candidates: [String]) -> String {
        nearest(to: word, among: candidates).map { "; did you mean \($0)?" } ?? ""
    }
}
