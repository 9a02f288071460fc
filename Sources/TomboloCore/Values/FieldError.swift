/// One fault in a request.
package struct FieldError: Error, Hashable, Sendable {
    /// JSON Pointer (RFC 6901) to the faulty field; empty for the whole body.
    package var pointer: String
    /// What is wrong and what would be right, as text for people.
    package var message: String

    package init(pointer: String, message: String) {
        self.pointer = pointer
        self.message = message
    }
}

/// All faults that were found in a request; at least one.
package struct FieldErrors: Error, Hashable, Sendable {
    package var errors: [FieldError]
    package init(_ errors: [FieldError]) { self.errors = errors }
}

/// The candidate that is most similar to a name; nil if none is similar enough, or if that one
/// takes something away: nobody follows a guess to an erasure.
///
/// The measure is the Damerau-Levenshtein distance without overlaps; up to a third of the name may
/// differ. For a name longer than `nearNameBytesMax` there is no suggestion, and only the first
/// `nearNamesMax` candidates are compared, so that a suggestion costs at most about a millisecond.
package func nearestName(to name: String, among candidates: some Sequence<String>) -> String? {
    let typed = Array(name.utf8.prefix(nearNameBytesMax + 1))
    guard typed.count <= nearNameBytesMax else { return nil }
    let limit = max(1, name.count / 3)
    var nearest: (distance: Int, name: String)?
    for candidate in candidates.prefix(nearNamesMax) {
        // Each byte of difference in length needs one edit.
        guard candidate.utf8.count <= typed.count + limit,
            typed.count <= candidate.utf8.count + limit,
            let distance = editDistance(typed, Array(candidate.utf8), atMost: limit),
            nearest.map({ (distance, candidate) < ($0.distance, $0.name) }) ?? true
        else { continue }
        nearest = (distance, candidate)
    }
    return nearest.flatMap { takesAway($0.name) ? nil : $0.name }
}

/// True if a command, a path or a kind of event ends, erases, deletes or replaces something, or
/// sends it again, by its last word.
package func takesAway(_ name: String) -> Bool {
    ["end", "erase", "delete", "remove", "rm", "stop", "rotate", "retry", "restored"]
        .contains(name.split { "/. ".contains($0) }.last.map(String.init) ?? "")
}

/// `; did you mean "X"?` as the end of a sentence; empty if `name` is nil.
package func didYouMean(_ name: String?) -> String {
    name.map { "; did you mean \"\($0)\"?" } ?? ""
}

/// Longer than any name of a field, type or command.
let nearNameBytesMax = 48
let nearNamesMax = 128
/// Maximum number of unknown names in a request for which a name is suggested.
let suggestionsMax = 3

/// The edit distance; nil if it is above `limit`.
private func editDistance(_ a: [UInt8], _ b: [UInt8], atMost limit: Int) -> Int? {
    var before = [Int](repeating: 0, count: b.count + 1)
    var last = before
    var row = Array(0...b.count)
    for i in a.indices {
        (before, last, row) = (last, row, before)
        row[0] = i + 1
        var least = row[0]
        for j in b.indices {
            var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
            if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
                best = min(best, before[j - 1] + 1)
            }
            row[j + 1] = best
            least = min(least, best)
        }
        // An exchange of two bytes uses the row before the last one. If both rows exceed the limit,
        // all later ones do.
        if least > limit, (last.min() ?? 0) > limit { return nil }
    }
    return row[b.count] <= limit ? row[b.count] : nil
}
