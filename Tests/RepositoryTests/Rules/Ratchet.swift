/// Numbers that may only fall: how often a rule is still broken, by room, or how long a named
/// exception is. The table says exactly what is there, so that nobody uses up what somebody else
/// has tidied.
struct Ratchet {
    let table: [String: Int]

    /// What differs, a line for each, and then the whole table as it would have to be; empty when
    /// it holds.
    func report(now: [String: Int]) -> String {
        let now = now.filter { $0.value > 0 }
        let lines = Set(now.keys).union(table.keys).sorted().compactMap { name -> String? in
            let (count, limit) = (now[name] ?? 0, table[name] ?? 0)
            if count > limit { return "\n\(name): \(count), \(count - limit) more than before" }
            if count < limit { return "\n\(name): \(count) instead of \(limit): lower the table" }
            return nil
        }
        guard !lines.isEmpty else { return "" }
        let entries = now.sorted { $0.key < $1.key }.map { "\n    \"\($0.key)\": \($0.value)," }
        return lines.joined() + "\n[" + entries.joined() + "\n]"
    }

    /// The number of violations by the second part of their path, the room.
    static func counts(_ violations: [Violation]) -> [String: Int] {
        Dictionary(grouping: violations) { violation in
            violation.path.split(separator: "/").dropFirst().first.map(String.init)
                ?? violation.path
        }.mapValues(\.count)
    }
}
