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

    /// Events that cannot be read: `seq` is the last of them, from which a reader goes on.
    func piece(_ damaged: DamagedPlaces) -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        writer.member("seq", damaged.places.upperBound)
        writer.member("damaged", true)
        damaged.writeMembers(to: &writer)
        writer.endObject()
        switch self {
        case .lines: return JSON.line(writer.bytes) + [UInt8(ascii: "\n")]
        case .serverSentEvents:
            let head = "id: \(damaged.places.upperBound)\nevent: damaged\n"
            return Array("\(head)data: ".utf8) + JSON.line(writer.bytes) + Array("\n\n".utf8)
        }
    }

    func piece(_ event: RecordedEvent, activity: Identifier?) -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        LogEntry.command(event, activity: activity).write(to: &writer)
        switch self {
        case .lines: return JSON.line(writer.bytes) + [UInt8(ascii: "\n")]
        case .serverSentEvents:
            let head = "id: \(event.tenantSeq)\nevent: \(event.event.kind.name)\n"
            return Array("\(head)data: ".utf8) + JSON.line(writer.bytes) + Array("\n\n".utf8)
        }
    }
}
