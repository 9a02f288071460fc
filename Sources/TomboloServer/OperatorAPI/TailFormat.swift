import TomboloAPI
import TomboloCore
import TomboloJSON

/// How a tail is written: server-sent events (WHATWG HTML, section 9.2) or a JSON object a line.
enum TailFormat: Hashable, Sendable {
    case serverSentEvents, lines

    /// By `Accept`: lines where JSON of any kind is asked for, else server-sent events.
    init(accept: String?) {
        let accept = accept?.lowercased() ?? ""
        self =
            accept.contains("json") && !accept.contains("text/event-stream")
            ? .lines : .serverSentEvents
    }

    var contentType: String {
        self == .lines ? "application/x-ndjson" : "text/event-stream"
    }

    /// Something that says "still here" and that readers pass over: a comment, or an empty line.
    var heartbeat: [UInt8] {
        Array((self == .lines ? "\n" : ": heartbeat\n\n").utf8)
    }

    /// Where the tail begins: a reader that is cut before the first event comes back with it. An
    /// event without data is no event, and its id is kept.
    func beginning(_ cursor: LogCursor) -> [UInt8] {
        self == .lines ? [] : Array("id: \(cursor.text)\n\n".utf8)
    }

    /// One entry, and the position from which a reader goes on behind it.
    func piece(_ entry: LogEntry, _ cursor: LogCursor, now: Instant) -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        entry.write(to: &writer, cursor: cursor, now: now)
        switch self {
        case .lines: return JSON.line(writer.bytes) + [UInt8(ascii: "\n")]
        case .serverSentEvents:
            let head = "id: \(cursor.text)\nevent: \(entry.name)\n"
            return Array("\(head)data: ".utf8) + JSON.line(writer.bytes) + Array("\n\n".utf8)
        }
    }
}
