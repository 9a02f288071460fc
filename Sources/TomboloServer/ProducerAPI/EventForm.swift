import TomboloAPI
import TomboloHTTP

/// How the body of `POST /v1/events` holds its events.
enum EventForm: Hashable, Sendable {
    /// NDJSON.
    case lines
    /// CloudEvents 1.0: an array of them, one with its attributes, and the data of one whose
    /// attributes are fields of the head (HTTP binding 1.0.2, sections 3.3, 3.2 and 3.1).
    case cloudEventBatch, cloudEvent, cloudEventData

    var isBatch: Bool { self == .lines || self == .cloudEventBatch }
}

extension DoorRequest {
    /// What the head says of the body. Of a CloudEvent in one piece, fields `ce-` beside it are
    /// passed over: they repeat it.
    func eventForm() throws(Problem) -> EventForm {
        try checkCoding()
        let hasAttributes = ["ce-specversion", "ce-type", "ce-source", "ce-id"].contains {
            head.fields.contains($0)
        }
        switch mediaType {
        case "application/cloudevents+json": return .cloudEvent
        case "application/cloudevents-batch+json": return .cloudEventBatch
        case nil: return hasAttributes ? .cloudEventData : .lines
        case Self.unspoken? where hasAttributes: return .cloudEventData
        case "application/x-ndjson", "application/ndjson", "application/jsonl":
            guard hasAttributes else { return .lines }
        case let type?:
            if hasAttributes, EventLine.isJSON(type) { return .cloudEventData }
            guard hasAttributes else { throw Self.unread(type) }
        }
        throw Problem(
            .unsupportedMediaType,
            "Fields ce- make the body the data of one CloudEvent, and \(mediaType ?? "none") is "
                + "not read as that. Send Content-Type: application/json, or leave the fields away."
        )
    }

    private static func unread(_ mediaType: String) -> Problem {
        // A body of one JSON object is the same without its line ends; lines are not.
        let hint = mediaType == unspoken ? " curl -d drops line ends: use --data-binary." : ""
        return Problem(
            .unsupportedMediaType,
            "\(mediaType) is not read here. Send one event a line, with Content-Type: "
                + "application/x-ndjson, or CloudEvents, with application/cloudevents+json."
                + hint)
    }
}
