/// What no text of the tree says: where it was made, or where packages are fetched from; and what
/// it does not put off.
enum TextRule {
    // Put together here, so that this file does not name them.
    private static let machinePaths = ["work", "tmp/wt", "root"].map { "/" + $0 }
    private static let registries = [
        ["pypi", "org"], ["files.pythonhosted", "org"], ["deb.debian", "org"], ["npmjs", "com"],
        ["npmjs", "org"], ["crates", "io"], ["rubygems", "org"], ["proxy.golang", "org"],
        ["hub.docker", "com"], ["archive.ubuntu", "com"],
    ].map { $0.joined(separator: ".") }
    private static let postponements = ["TO" + "DO", "FIX" + "ME", "XX" + "X"]

    static func violations(path: String, text: String) -> [Violation] {
        let machinePaths = machinePaths.filter(text.contains)
        let registries = registries.filter(text.contains)
        guard !machinePaths.isEmpty || !registries.isEmpty else { return [] }
        var violations: [Violation] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            for place in machinePaths where names(place, in: line) {
                violations.append(
                    Violation(
                        path: path, line: index + 1,
                        message: "`\(place)` is a folder of one machine; nobody else has it"))
            }
            for host in registries where line.contains(host) {
                violations.append(
                    Violation(
                        path: path, line: index + 1,
                        message:
                            "`\(host)` is a registry's host; packages come from the reader's own"))
            }
        }
        return violations
    }

    /// Whether a path begins with `place`: nothing of a path stands before it, no letter after it.
    private static func names(_ place: String, in line: Substring) -> Bool {
        line.ranges(of: place).contains { range in
            let before = line[..<range.lowerBound].last
            let after = line[range.upperBound...].first
            let isInside =
                before.map { $0.isLetter || $0.isNumber || "/.}~)_-".contains($0) } ?? false
            return !isInside && !(after.map { $0.isLetter || $0.isNumber || $0 == "-" } ?? false)
        }
    }

    /// Words that put work off. A string may say them: only comments and names are searched.
    static func postponed(in file: SwiftFile) -> [Violation] {
        let inComments = file.comments.sorted { $0.key < $1.key }.flatMap { line, text in
            text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map { (line, String($0)) }
        }
        let inCode = file.tokens.filter { $0.kind == .word }.map { ($0.line, $0.text) }
        return (inComments + inCode).filter { postponements.contains($0.1) }.map { line, word in
            Violation(
                path: file.path, line: line,
                message: "`\(word)`: what is missing belongs into an issue, or is done now")
        }
    }
}
