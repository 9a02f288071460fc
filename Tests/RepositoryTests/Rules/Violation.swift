/// A place where the house does not keep a rule.
struct Violation: CustomStringConvertible, Equatable {
    let path: String
    /// From 1; nil when the whole file is meant.
    let line: Int?
    /// What is wrong there, and why it is not wanted.
    let message: String

    var description: String { "\(path)\(line.map { ":\($0)" } ?? ""): \(message)" }
}

extension [Violation] {
    /// One violation on a line, for the message of a failed test.
    var report: String { map { "\n\($0)" }.joined() }
}
