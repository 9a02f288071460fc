/// A fault of one field in a request.
package struct FieldError: Error, Hashable, Sendable {
    /// A JSON Pointer (RFC 6901) to the field; empty for the whole body.
    package var pointer: String
    /// What is wrong and what would be right, for people.
    package var message: String

    package init(pointer: String, message: String) {
        self.pointer = pointer
        self.message = message
    }
}

/// All faults that a reading found; never empty.
package struct FieldErrors: Error, Hashable, Sendable {
    package var errors: [FieldError]
    package init(_ errors: [FieldError]) { self.errors = errors }
}

/// The candidate nearest to a typed name, if one is near enough to be meant.
///
/// Nearness is the Damerau-Levenshtein distance without overlaps; up to a third of the length may
/// differ. A name longer than `nearNameBytesMax` has no candidate, and only `nearNamesMax`
/// candidates are compared: a suggestion is worth a millisecond at most.
package func nearestName(to name: String, among candidates: some Sequence<String>) -> String? {
    let typed = Array(name.utf8.prefix(nearNameBytesMax + 1))
    guard typed.count <= nearNameBytesMax else { return nil }
    let limit = max(1, name.count / 3)
    var nearest: (distance: Int, name: String)?
    for candidate in candidates.prefix(nearNamesMax) {
        // Each byte of difference in length is one edit.
        guard candidate.utf8.count <= typed.count + limit,
            typed.count <= candidate.utf8.count + limit,
            let distance = editDistance(typed, Array(candidate.utf8), atMost: limit),
            nearest.map({ (distance, candidate) < ($0.distance, $0.name) }) ?? true
        else { continue }
        nearest = (distance, candidate)
    }
    return nearest?.name
}

/// `; did you mean "X"?`, as the end of a sentence; empty for nil.
package func didYouMean(_ name: String?) -> String {
    name.map { "; did you mean \"\($0)\"?" } ?? ""
}

/// No field, type or command has a longer name.
let nearNameBytesMax = 48
let nearNamesMax = 128
/// Unknown names of one request that get a suggestion, at most.
let suggestionsMax = 3

/// Returns nil above `limit`.
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
        // An exchange looks two rows back: only if both exceed the limit, so will all later ones.
        if least > limit, (last.min() ?? 0) > limit { return nil }
    }
    return row[b.count] <= limit ? row[b.count] : nil
}
