/// Why a command ends without doing what it was asked: the cause in one sentence, then what to do
/// about it.
struct ProgramError: Error, Hashable, Sendable {
    var cause: String
    /// The fix, as a command where there is one.
    var remedy: String?
    var status: ExitStatus
    /// Nothing listens where a relay was looked for.
    var isConnectionRefused = false

    init(_ cause: String, remedy: String? = nil, status: ExitStatus = .failed) {
        self.cause = cause
        self.remedy = remedy
        self.status = status
    }

    /// A wrong command line: nothing was done.
    static func usage(_ cause: String, remedy: String? = nil) -> ProgramError {
        ProgramError(cause, remedy: remedy, status: .usage)
    }

    /// The lines for a human, without colour.
    var text: String { "tombolo: \(line)\n" }

    /// The cause, and the fix on a line below it.
    var line: String { cause + (remedy.map { "\n  try: \($0)" } ?? "") }
}
