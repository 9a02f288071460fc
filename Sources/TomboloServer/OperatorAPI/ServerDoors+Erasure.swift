import TomboloAPI
import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloRelay

extension ServerDoors {
    func eraseActivity(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let key = try request.activityKey()
        if try request.isDryRun {
            let answer = await relay.wouldErase(.activity(key, number: nil))
            return try Self.told(answer, ("activity", key.id), isDryRun: true)
        }
        // The stored deed must not name the erased activity.
        let deed = deed("erased", ["what": "activity"], request)
        let answer = try Self.told(
            await relay.erase(activity: key, deed: deed), ("activity", key.id))
        forgetRequests(about: key)
        tell(deed, "an activity is erased")
        return answer
    }

    func eraseDevice(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let key = try request.deviceKey()
        let known = await relay.device(key)
        // Deleted with the device, so find them before.
        let ids = [key.id.rawValue] + access.records(of: key).map(\.id)
        let isDryRun = try request.isDryRun
        let deed = deed("erased", ["what": "device"], request)
        let answer =
            isDryRun
            ? await relay.wouldErase(.device(key)) : await relay.erase(device: key, deed: deed)
        if case .erased(let erased) = answer, known == nil, erased.isNothing {
            throw Problem(
                .unknownDevice,
                "Nothing of a device \"\(key.id)\" is here: it is not registered, and no event or "
                    + "fact names it.")
        }
        let told = try Self.told(answer, ("device", key.id), isDryRun: isDryRun)
        guard !isDryRun else { return told }
        await forgetRequests(naming: ids, user: known?.registration.user, of: key.tenant)
        tell(deed, "a device is erased")
        return told
    }

    private static func told(
        _ answer: ErasureAnswer, _ subject: (name: String, id: Identifier),
        isDryRun: Bool = false
    ) throws(Problem) -> DoorResponse {
        switch answer {
        case .erased(let erased):
            return .object(isDryRun: isDryRun) { writer in
                writer.member(subject.name, subject.id.rawValue)
                writer.member("result", "erased")
                writer.member("events", Int64(erased.events))
                writer.member("facts", Int64(erased.facts))
                writer.member("activities", Int64(erased.activities))
                if !isDryRun { writer.member("out_of_file", erased.isOutOfFile) }
            }
        case .refused(let refusal): throw Problem(refusal)
        case .failed(let error): throw Problem(error)
        }
    }
}
