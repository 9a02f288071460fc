import TomboloAPI
import TomboloHTTP

/// The format of the body of `POST /v1/events`.
enum EventForm: Hashable, Sendable {
    /// NDJSON.
    case lines
    /// CloudEvents 1.0: an array of events, one event with its attributes, or the data of an event
    /// whose attributes are header fields (HTTP binding 1.0.2, sections 3.3, 3.2 and 3.1).
    case cloudEventBatch, cloudEvent, cloudEventData

    var isBatch: Bool { self == .lines || self == .cloudEventBatch }
}

extension DoorRequest {
    /// The format that the header declares. For a CloudEvent with its attributes in the body, `ce-`
    /// fields are ignored: they repeat the attributes.
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
        // `curl -d` drops line ends. That does not matter for one object, but it joins lines.
        let hint = mediaType == unspoken ? " curl -d drops line ends: use --data-binary." : ""
        return Problem(
            .unsupportedMediaType,
            "\(mediaType) is not read here. Send one event a line, with Content-Type: "
                + "application/x-ndjson, or CloudEvents, with application/cloudevents+json."
                + hint)
    }
}
