/// The parts of a problem that are the same at each occurrence, and the content of its page.
package struct ProblemPage: Hashable, Sendable {
    package let code: ProblemCode
    /// The HTTP status (RFC 9110, section 15).
    package let status: Int
    /// The title, the same at each occurrence (RFC 9457, section 3.1.4).
    package let title: String
    package let cause: String
    package let fix: String
    /// One command that helps, ready to paste.
    package let command: String

    init(
        _ code: ProblemCode, _ status: Int, _ title: String, cause: String, fix: String,
        command: String
    ) {
        self.code = code
        self.status = status
        self.title = title
        self.cause = cause
        self.fix = fix
        self.command = command
    }

    /// The problem's `type`: the path of this page.
    package var path: String { "/problems/\(code.rawValue)" }

    /// The page as plain text.
    package var text: String {
        """
        \(title)
        code \(code.rawValue), HTTP status \(status)

        Cause
          \(cause)

        Fix
          \(fix)

        Command
          \(command)

        """
    }
}
