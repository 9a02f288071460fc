/// Numbers from outside are of bounded types from the reader on: what reads a request computes
/// nothing, so that no value that somebody sends can overflow there.
enum ReadingRule {
    /// The arithmetic in files named `…+Reading.swift`, and in each function elsewhere in the
    /// sources that has a `FieldReader`.
    static func violations(in file: SwiftFile) -> [Violation] {
        guard file.isSource else { return [] }
        let ranges =
            file.path.hasSuffix("+Reading.swift") ? [file.tokens.indices] : readers(in: file)
        return ranges.flatMap { range in
            range.filter { isArithmetic(at: $0, in: file) }.map { index in
                Violation(
                    path: file.path, line: file.tokens[index].line,
                    message: "`\(file.tokens[index].text)` in what reads a request: let a type "
                        + "with a range compute it")
            }
        }
    }

    /// The functions whose signature or body names a `FieldReader`.
    private static func readers(in file: SwiftFile) -> [Range<Int>] {
        let named = file.places["FieldReader"] ?? []
        guard !named.isEmpty, !file.path.hasSuffix("/FieldReader.swift") else { return [] }
        return ["func", "init"].flatMap { file.places[$0] ?? [] }.compactMap { function in
            guard let body = LengthRule.body(of: function, in: file), let end = file.closings[body],
                named.contains(where: (function..<end).contains)
            else { return nil }
            return function..<end
        }
    }

    /// An operator between two values; two texts may be joined.
    private static func isArithmetic(at index: Int, in file: SwiftFile) -> Bool {
        let tokens = file.tokens
        guard index > 0, index + 1 < tokens.count,
            ["+", "-", "*", "/", "%"].contains(where: tokens[index].isCode)
        else { return false }
        let (before, after) = (tokens[index - 1], tokens[index + 1])
        guard before.kind != .string, after.kind != .string else { return false }
        let assigns = after.isCode("=") && after.isGlued
        let wraps = before.isCode("&") && tokens[index].isGlued
        let standsAlone = !tokens[index].isGlued && !after.isGlued
        return assigns || wraps || standsAlone
    }
}
