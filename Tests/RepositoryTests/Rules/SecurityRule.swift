/// Each line of `SECURITY.md` names tests that are there: a defence that nothing tests is none.
enum SecurityRule {
    static let page = "SECURITY.md"

    /// - Parameters:
    ///   - text: of the page. The last cell of a row has tests between backticks: names of
    ///     functions, or paths.
    ///   - tests: the files below `Tests`.
    static func violations(
        _ text: String, tests: [(path: String, text: String)]
    ) -> [Violation] {
        rows(text).flatMap { line, row in
            let named = names(of: row)
            guard !named.isEmpty else {
                return [Violation(path: page, line: line, message: "the row names no test")]
            }
            return named.filter { !isThere($0, tests) }.map {
                Violation(path: page, line: line, message: "there is no test `\($0)`")
            }
        }
    }

    /// Rows of tables with their lines, without heads.
    static func rows(_ text: String) -> [(line: Int, row: Substring)] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.filter { index in
            let next = index + 1 < lines.count ? lines[index + 1] : ""
            return isRow(lines[index]) && !isRule(lines[index]) && !isRule(next)
        }.map { ($0 + 1, lines[$0]) }
    }

    private static func isRow(_ line: Substring) -> Bool { line.hasPrefix("|") }

    private static func isRule(_ line: Substring) -> Bool { line.hasPrefix("|---") }

    private static func names(of row: Substring) -> [String] {
        let parts = (row.split(separator: "|").last ?? "")
            .split(separator: "`", omittingEmptySubsequences: false)
        return parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }
    }

    private static func isThere(
        _ name: String, _ tests: [(path: String, text: String)]
    ) -> Bool {
        if name.hasPrefix("Tests/") { return tests.contains { $0.path == name } }
        return tests.contains {
            $0.text.contains("func `\(name)`(") || $0.text.contains("func \(name)(")
        }
    }
}
