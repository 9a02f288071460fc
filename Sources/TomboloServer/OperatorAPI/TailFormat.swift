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
        let line = Self.escaped(JSON.line(writer.bytes))
        switch self {
        case .lines: return line + [UInt8(ascii: "\n")]
        case .serverSentEvents:
            let head = "id: \(cursor.text)\nevent: \(entry.name)\n"
            return Array("\(head)data: ".utf8) + line + Array("\n\n".utf8)
        }
    }

    /// What many a reader takes for the end of a line. In JSON it is within strings only, where an
    /// escape says the same.
    private static let lineEnds = [
        ("\u{85}", "\\u0085"), ("\u{2028}", "\\u2028"), ("\u{2029}", "\\u2029"),
    ]

    private static func escaped(_ line: [UInt8]) -> [UInt8] {
        // Their first bytes.
        guard line.contains(where: { $0 == 0xc2 || $0 == 0xe2 }) else { return line }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(line.count)
        var rest = line[...]
        while let byte = rest.first {
            if byte == 0xc2 || byte == 0xe2,
                let (end, escape) = lineEnds.first(where: { rest.starts(with: $0.0.utf8) })
            {
                bytes += escape.utf8
                rest = rest.dropFirst(end.utf8.count)
            } else {
                bytes.append(byte)
                rest = rest.dropFirst()
            }
        }
        return bytes
    }
}
