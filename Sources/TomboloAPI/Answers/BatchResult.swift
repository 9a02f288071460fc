package import TomboloJSON

/// The answer to one line of a batch.
package enum BatchResult: Sendable {
    case accepted(id: String?, CommandAnswer)
    /// `line` is the line's number from 1, which identifies a line without an id.
    case refused(id: String?, line: Int, Problem)
    /// The result of a dry run of the line.
    case tried(id: String?, DryRunAnswer)

    /// - Parameters:
    ///   - traceID: the trace id of the batch, which is written for a refused line.
    ///   - isShort: true to write of a problem its status and code only.
    package func write(to writer: inout JSONWriter, traceID: String? = nil, isShort: Bool = false) {
        writer.beginObject()
        switch self {
        case .accepted(let id, let answer):
            writer.optional("id", id)
            writer.member("ok", true)
            writer.member("seq", answer.tenantSeq)
            writer.optional("cursor", answer.cursor?.text)
            writer.member("version", answer.version)
            writer.optional("clip", answer.clip)
            if !answer.changed { writer.member("unchanged", true) }
            if answer.replayed { writer.member("replayed", true) }
            // A batch can have a million lines, so an empty `lint` is left out.
            if !answer.lint.isEmpty { writer.lints(answer.lint) }
        case .tried(let id, let answer):
            writer.optional("id", id)
            writer.member("ok", true)
            writer.named("run") { answer.write(to: &$0) }
        case .refused(let id, let line, let problem):
            writer.optional("id", id)
            writer.member("ok", false)
            writer.member("line", line)
            if isShort {
                writer.member("status", problem.status)
                writer.member("code", problem.code.rawValue)
                break
            }
            writer.named("problem") { problem.write(to: &$0, traceID: traceID) }
        }
        writer.endObject()
    }
}
