package import TomboloCore
package import TomboloJSON

/// A request that was refused or slow, as `GET /v1/requests` lists it. It has neither the body nor
/// the key of the request: a key is named by its id.
package struct RequestEntry: AnswerObject, Hashable, Sendable {
    /// Why something was refused.
    package struct Cause: Hashable, Sendable {
        package var code: ProblemCode
        package var detail: String
        /// The first field that is wrong; nil if the refusal names none.
        package var pointer: String?

        /// The cause of a problem, whole. The memory cuts its texts.
        package init(_ problem: Problem) {
            (code, detail) = (problem.code, problem.detail)
            pointer = problem.errors.first?.pointer
        }

        fileprivate func write(to writer: inout JSONWriter) {
            writer.member("code", code.rawValue)
            writer.member("detail", detail)
            writer.optional("pointer", pointer)
        }
    }

    /// A refused line of a batch.
    package struct Line: Hashable, Sendable {
        package var number: Int
        package var cause: Cause
        package var activity: Identifier?

        /// Makes a line from all its values.
        package init(_ number: Int, _ cause: Cause, activity: Identifier?) {
            (self.number, self.cause, self.activity) = (number, cause, activity)
        }
    }

    /// Its place among the requests of a tenant that are or were remembered, from 1.
    package var number: Int64 = 0
    package var at: Instant
    package var method: String
    /// The name of the request in the API's description; nil if nothing is at its path.
    package var operation: String?
    /// The path with the names of its parameters, such as `/v1/activities/{id}`.
    package var path: String?
    package var status: Int
    /// Why it was refused; nil for a slow request, and for a batch with refused lines.
    package var cause: Cause?
    /// The activity and the device in the path, or the activity of a single event.
    package var activity: Identifier?
    package var device: Identifier?
    package var isDryRun = false
    /// The key's id, if the key was right.
    package var key: String?
    /// What the key is called now; set when the entry is listed.
    package var keyName: String?
    /// The address of the connection, which is a proxy's if there is one.
    package var address: String
    /// The time of a slow request, rounded down to 100 ms; nil if it was not slow.
    package var tookMilliseconds: Int64?
    /// The number of refused lines of a batch, and the first of them.
    package var linesRefused = 0
    package var lines: [Line] = []

    /// Makes an entry of a request with its answer's status.
    package init(at: Instant, method: String, status: Int, address: String) {
        (self.at, self.method, self.status, self.address) = (at, method, status, address)
    }

    /// True if the request or a line of it was refused, or the relay failed.
    package var isRefused: Bool { cause != nil || linesRefused > 0 }

    /// The causes of the request and of its lines, as far as they are kept.
    package var causes: [Cause] { [cause].compactMap { $0 } + lines.map(\.cause) }

    /// True if the request or a line of it is about this activity.
    package func concerns(_ name: Identifier) -> Bool {
        activity == name || lines.contains { $0.activity == name }
    }

    package func write(membersTo writer: inout JSONWriter) {
        writer.member("id", "\(number)")
        writer.member("at", at.rfc3339)
        writer.member("kind", isRefused ? "refused" : "slow")
        writer.member("method", method)
        writer.optional("operation", operation)
        writer.optional("path", path)
        writer.member("status", status)
        cause?.write(to: &writer)
        writer.optional("activity", activity?.rawValue)
        writer.optional("device", device?.rawValue)
        if isDryRun { writer.member("dry_run", true) }
        writer.optional("key", key)
        writer.optional("key_name", keyName)
        writer.member("address", address)
        writer.optional("took_ms", tookMilliseconds)
        guard linesRefused > 0 else { return }
        writer.member("lines_refused", linesRefused)
        writer.array("lines", of: lines) { writer, line in
            writer.object { writer in
                writer.member("line", line.number)
                line.cause.write(to: &writer)
                writer.optional("activity", line.activity?.rawValue)
            }
        }
    }
}
