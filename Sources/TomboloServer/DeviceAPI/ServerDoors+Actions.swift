import TomboloAPI
import TomboloCore
import TomboloHTTP
import TomboloJSON
import TomboloRelay

extension ServerDoors {
    /// `POST /v1/devices/{device}/actions`: records a user's action on a phone for the producer.
    func postAction(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let document = try await request.sentJSON(atMost: configuration.bodyBytesMax)
        var action: DeviceAction
        do { action = try DeviceAction(reading: document.root) } catch { throw Problem(error) }
        action.idempotency = try request.idempotencyKey(body: document.bytes)
        let key = try request.deviceKey()
        let authority = request.deviceAuthority
        if try request.isDryRun {
            let command = DeviceCommand.action(action)
            _ = try await tried { (core, now) throws(Refusal) in
                try core.dryRunDeviceCommand(command, for: key, by: authority, now: now)
            }
            return .json { ActionAnswer(nil).write(to: &$0) }
        }
        let stored = try Self.stored(
            await relay.submitDeviceCommand(.action(action), for: key, by: authority), "a device")
        var fields: HTTPFields = [:]
        if stored.isReplay { fields.append("idempotent-replayed", "true") }
        return .json(202, fields) { ActionAnswer(stored.action).write(to: &$0) }
    }
}
