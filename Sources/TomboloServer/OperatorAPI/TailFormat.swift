import TomboloAPI
import TomboloCore
import TomboloJSON

/// A tail's format: server-sent events (WHATWG HTML, section 9.2) or one JSON object per line.
enum TailFormat: Hashable, Sendable {
    case serverSentEvents, lines

    /// Chooses by the field `Accept`: lines if it contains JSON but no event stream, else
    /// server-sent events.
    init(accept: String?) {
        let accept = accept?.lowercased() ?? ""
        self =
            accept.contains("json") && !accept.contains("text/event-stream")
            ? .lines : .serverSentEvents
    }

    var contentType: String {
        self == .lines ? "application/x-ndjson" : "text/event-stream"
    }

    /// A heartbeat, which readers skip: a comment or an empty line.
    var heartbeat: [UInt8] {
        Array((self == .lines ? "\n" : ": heartbeat\n\n").utf8)
    }

    /// The first position as an event id; empty for lines. A reader that is cut off before the
    /// first event continues from this position. An event without data is not dispatched, but its
    /// id is kept.
    func beginning(_ cursor: LogCursor) -> [UInt8] {
        self == .lines ? [] : Array("id: \(cursor.text)\n\n".utf8)
    }

    /// One entry as text. `cursor` is the position after it.
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

    /// Characters that some readers take for a line end. In JSON they occur only inside strings,
    /// where an escape has the same meaning.
    private static let lineEnds = [
        ("\u{85}", "\\u0085"), ("\u{2028}", "\\u2028"), ("\u{2029}", "\\u2029"),
    ]

    private static func escaped(_ line: [UInt8]) -> [UInt8] {
        // 0xc2 and 0xe2 are the first bytes of these characters.
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
