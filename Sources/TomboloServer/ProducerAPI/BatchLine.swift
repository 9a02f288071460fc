import TomboloAPI
import TomboloCore
import TomboloCrypto

/// One parsed line of a batch: a command, or a problem.
enum BatchLine: Sendable {
    case command(Command, id: String?, line: Int)
    case problem(Problem, id: String?, line: Int)

    /// The id as the producer wrote it; nil if the line has none.
    var id: String? {
        switch self {
        case .command(_, let id, _), .problem(_, let id, _): id
        }
    }

    /// The idempotency key: lines with the same key are one event. Nil if the line has none.
    var key: String? {
        switch self {
        case .command(let command, _, _): command.idempotency?.key
        case .problem(_, let id, _): id
        }
    }

    /// The activity of a command; nil if the line is a problem.
    var activity: Identifier? {
        if case .command(let command, _, _) = self { command.activity.id } else { nil }
    }

    var isCommand: Bool {
        if case .command = self { true } else { false }
    }

    var number: Int {
        switch self {
        case .command(_, _, let number), .problem(_, _, let number): number
        }
    }

    /// - Parameters:
    ///   - form: lines, or elements of a batch of CloudEvents.
    ///   - key: the request's key.
    ///   - trace: the request's trace.
    init(
        _ line: LineSplitter.Line, tenant: TenantID, lineBytesMax: Int, form: EventForm = .lines,
        key: AskingKey = .unknown, trace: TraceID? = nil
    ) {
        switch line {
        case .tooLong(let number):
            let problem = Problem(
                .bodyTooLarge,
                "Line \(number) has more than \(lineBytesMax) bytes. Send less in one event.")
            self = .problem(problem, id: nil, line: number)
        case .broken(let cause, let number):
            self = .problem(Problem(.invalidJSON, cause), id: nil, line: number)
        case .line(let bytes, let number):
            do throws(EventLine.Fault) {
                let event = form == .lines ? try EventLine(bytes) : try EventLine(cloudEvent: bytes)
                var command = Self.command(event, tenant)
                (command.key, command.trace) = (key, trace)
                self = .command(command, id: event.id, line: number)
            } catch {
                self = .problem(error.problem, id: error.id, line: number)
            }
        }
    }

    /// A line's id is its idempotency key, which is bound to the whole line as sent. The key of a
    /// CloudEvent is its source and id; it is bound to the command's kind, activity and data.
    static func command(_ event: EventLine, _ tenant: TenantID) -> Command {
        let key = ActivityKey(tenant: tenant, id: event.activity)
        var command = Command(activity: key, content: event.content, body: event.body)
        guard let id = event.id else { return command }
        var digest = StableHash()
        if event.source != nil {
            digest.combine("\(event.content.kind.name) \(event.activity) ".utf8)
        }
        digest.combine(event.sent)
        command.idempotency = IdempotencyKey(
            key: event.source.map { keyOfCloudEvent(source: $0, id: id) } ?? id,
            bodyDigest: digest.value)
        return command
    }

    /// A key from source and id. They have no line feeds, so different pairs have different keys.
    /// If the key would be too long, its SHA-256 is used, which is as good as unique.
    static func keyOfCloudEvent(source: String, id: String) -> String {
        let key = source + "\n" + id
        guard !EventLine.idBytes.contains(key.utf8.count) else { return key }
        return "sha256\n" + Hex.encode(SHA256.digest(key))
    }
}
