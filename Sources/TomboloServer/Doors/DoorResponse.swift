import TomboloAPI
import TomboloCore
import TomboloHTTP
import TomboloJSON

/// A complete answer.
struct DoorResponse: Sendable {
    var status: Int
    var fields: HTTPFields
    var body: [UInt8]
    /// True if the body is a constant that all answers share.
    var isShared = false

    /// An answer in JSON, with a newline at its end for terminals.
    static func json(
        _ status: Int = 200, _ fields: HTTPFields = [:], _ write: (inout JSONWriter) -> Void
    ) -> DoorResponse {
        var writer = JSONWriter(capacity: 512)
        write(&writer)
        var all: HTTPFields = ["content-type": "application/json"]
        for field in fields { all.append(field.name, field.value) }
        return DoorResponse(status: status, fields: all, body: writer.takeLine())
    }

    /// An answer whose body is one object with the members that `write` writes.
    static func object(
        isDryRun: Bool = false, status: Int = 200, _ write: (inout JSONWriter) -> Void
    ) -> DoorResponse {
        .json(status) { writer in
            writer.object { writer in
                if isDryRun { writer.member("dry_run", true) }
                write(&writer)
            }
        }
    }

    /// The answer to a deletion, or to its dry run.
    static func gone(_ name: String, _ value: String, isDryRun: Bool) -> DoorResponse {
        .object(isDryRun: isDryRun) { writer in
            writer.member(name, value)
            writer.member("result", "deleted")
        }
    }

    static func text(_ text: String, type: String = "text/plain; charset=utf-8") -> DoorResponse {
        DoorResponse(
            status: 200, fields: ["content-type": type, "x-content-type-options": "nosniff"],
            body: Array(text.utf8))
    }

    /// The answer for a problem (RFC 9457), with the header fields that belong to it.
    static func problem(_ problem: Problem, traceID: String) -> DoorResponse {
        var writer = JSONWriter(capacity: 512)
        problem.write(to: &writer, traceID: traceID)
        var fields: HTTPFields = ["content-type": "application/problem+json"]
        switch problem.code {
        case .unauthorized: fields.append("www-authenticate", "Bearer realm=\"tombolo\"")
        case .unsupportedMediaType: fields.append("accept-encoding", "identity")
        case .overloaded, .logFull, .logSilent, .logUnavailable, .notReady, .stopping, .waiting,
            .idempotencyKeyRunning:
            // In seconds (RFC 9110, section 10.2.3). A full queue is usually empty soon.
            let second: Int64 = 1_000_000_000
            let wait = problem.retryAfter.map { ($0.nanoseconds + second - 1) / second } ?? 1
            fields.append("retry-after", String(wait))
        default: break
        }
        if let methods = problem.allow { fields.append("allow", methods.joined(separator: ", ")) }
        return DoorResponse(status: problem.status, fields: fields, body: writer.takeLine())
    }
}
