import TomboloAPI
import TomboloCore

/// One line of a batch after reading: a command, or the problem that it has.
enum BatchLine: Sendable {
    case command(Command, id: String?, line: Int)
    case problem(Problem, id: String?, line: Int)

    /// Its idempotency key; nil where it has none.
    var id: String? {
        switch self {
        case .command(_, let id, _), .problem(_, let id, _): id
        }
    }

    var number: Int {
        switch self {
        case .command(_, _, let number), .problem(_, _, let number): number
        }
    }

    /// - Parameters:
    ///   - key: who asks.
    ///   - trace: of the request that has the line.
    init(
        _ line: LineSplitter.Line, tenant: TenantID, lineBytesMax: Int, key: AskingKey = .unknown,
        trace: TraceID? = nil
    ) {
        switch line {
        case .tooLong(let number):
            let problem = Problem(
                .bodyTooLarge,
                "Line \(number) has more than \(lineBytesMax) bytes. Send less in one event.")
            self = .problem(problem, id: nil, line: number)
        case .line(let bytes, let number):
            do {
                let event = try EventLine(bytes)
                var command = Self.command(event, bytes, tenant)
                (command.key, command.trace) = (key, trace)
                self = .command(command, id: event.id, line: number)
            } catch {
                self = .problem(error.problem, id: error.id, line: number)
            }
        }
    }

    /// A line's id is its idempotency key; the whole line as sent is what it is bound to.
    private static func command(
        _ event: EventLine, _ sent: [UInt8], _ tenant: TenantID
    ) -> Command {
        let key = ActivityKey(tenant: tenant, id: event.activity)
        var command = Command(activity: key, content: event.content, body: event.body)
        if let id = event.id {
            var digest = StableHash()
            digest.combine(sent)
            command.idempotency = IdempotencyKey(key: id, bodyDigest: digest.value)
        }
        return command
    }
}
