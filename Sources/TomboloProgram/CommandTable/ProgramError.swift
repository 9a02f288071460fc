import TomboloJSON

/// Why a command failed: the cause in one sentence, then a remedy.
package struct ProgramError: Error, Hashable, Sendable {
    var cause: String
    /// The remedy, if possible as a command.
    var remedy: String?
    var status: ExitStatus
    /// True if nothing listens at the relay's address.
    var isConnectionRefused = false

    /// An error with its cause and, if there is one, a command as its remedy.
    package init(_ cause: String, remedy: String? = nil, status: ExitStatus = .failed) {
        (self.cause, self.remedy, self.status) = (cause, remedy, status)
    }

    /// A wrong command line: nothing was done.
    package static func usage(_ cause: String, remedy: String? = nil) -> ProgramError {
        ProgramError(cause, remedy: remedy, status: .usage)
    }

    /// The message for people, without colour.
    var text: String { "tombolo: \(line)\n" }

    /// The message for programs: `{"error","try","status"}` in one line, where `status` is
    /// the exit status.
    var object: String {
        let json = JSON.object { writer in
            writer.member("error", cause)
            if let remedy { writer.member("try", remedy) }
            writer.member("status", status.rawValue)
        }
        return String(decoding: json.bytes, as: UTF8.self) + "\n"
    }

    /// The cause, and the remedy on a second line.
    var line: String { cause + (remedy.map { "\n  try: \($0)" } ?? "") }
}
