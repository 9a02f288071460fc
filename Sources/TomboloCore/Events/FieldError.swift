/// What is wrong with one field of what a user sent.
package struct FieldError: Error, Hashable, Sendable {
    /// A JSON Pointer (RFC 6901) to the field; empty for the whole.
    package var pointer: String
    /// What is wrong and what would be right, for people.
    package var message: String

    package init(pointer: String, message: String) {
        self.pointer = pointer
        self.message = message
    }
}

/// Every fault that a reading found; never empty.
package struct FieldErrors: Error, Hashable, Sendable {
    package var errors: [FieldError]
    package init(_ errors: [FieldError]) { self.errors = errors }
}

/// The candidate nearest to what somebody typed, if any is near enough to be meant.
///
/// Nearness is the Damerau-Levenshtein distance without overlaps; up to a third of the length may
/// differ.
package func nearestName(to name: String, among candidates: some Sequence<String>) -> String? {
    let limit = max(1, name.count / 3)
    let near = candidates.map { (name: $0, distance: editDistance(name, $0)) }
        .filter { $0.distance <= limit }
    return near.min { ($0.distance, $0.name) < ($1.distance, $1.name) }?.name
}

private func editDistance(_ one: String, _ other: String) -> Int {
    let a = Array(one.utf8.prefix(64))
    let b = Array(other.utf8.prefix(64))
    var rows = [Array(0...b.count)]
    for i in 1..<(a.count + 1) {
        var row = [i]
        for j in 1..<(b.count + 1) {
            let cost = a[i - 1] == b[j - 1] ? 0 : 1
            var best = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + cost)
            if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                best = min(best, rows[i - 2][j - 2] + 1)
            }
            row.append(best)
        }
        rows.append(row)
    }
    return rows[a.count][b.count]
}
