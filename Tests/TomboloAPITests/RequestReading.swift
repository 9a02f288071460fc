import Testing
import TomboloAPI
import TomboloCore
import TomboloJSON

/// Requests by the names of their schemas.
enum RequestReading {
    /// Keys are read behind the doors, in the room that keeps them.
    static let readElsewhere = ["key-request", "key-rotation"]

    /// Reads a request as the doors do; the schema's name says which it is.
    static func read(_ view: JSONView, as schema: String) throws {
        switch schema {
        case "start": _ = try Command.Content(kind: .start, view)
        case "update": _ = try Command.Content(kind: .update, view)
        case "end": _ = try Command.Content(kind: .end, view)
        case "clip": _ = try Command.Content(kind: .play, view)
        case "end-many": _ = try EndManyRequest(view)
        case "event-line": _ = try EventLine(Array(view.raw))
        case "cloud-event": _ = try EventLine(cloudEvent: Array(view.raw))
        case "device": _ = try DeviceRegistration(reading: view)
        case "token": _ = try TokenRegistration(reading: view)
        case "action": _ = try DeviceAction(reading: view)
        case "presence": _ = try PresenceReport(reading: view)
        case "pause-request": _ = try PauseRequest(reading: view)
        case "reload": _ = try ReloadRequest(reading: view, control: nil)
        case "channel-request": _ = try ChannelRequest(reading: view)
        case "type": _ = try ActivityType(reading: view)
        case "token-set": _ = try TokenSet(reading: view)
        case "retry":
            _ = try RetryRequest(view, tenant: Samples.tenant)
        case "timeline": _ = try TimelineRequest(reading: view)
        case "phone-action": _ = try PhoneAction(reading: view)
        case "scenario-request": _ = try ScenarioRequest(reading: view)
        case "phone-report": _ = try PhoneReport(reading: view)
        default: Issue.record("no reader for \(schema)")
        }
    }
}
