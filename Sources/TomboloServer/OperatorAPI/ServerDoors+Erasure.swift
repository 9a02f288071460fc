import TomboloAPI
import TomboloCore
import TomboloEventLog
import TomboloHTTP
import TomboloJSON
import TomboloRelay

extension ServerDoors {
    func eraseActivity(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let key = try request.activityKey()
        if try request.isDryRun {
            return try await wouldErase(.activity(key, number: nil), ("activity", key.id))
        }
        return try Self.told(await relay.erase(activity: key), ("activity", key.id))
    }

    func eraseDevice(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let key = try request.deviceKey()
        let isKnown = await relay.device(key) != nil
        if try request.isDryRun { return try await wouldErase(.device(key), ("device", key.id)) }
        let answer = await relay.erase(device: key)
        if case .erased(let erased) = answer, !isKnown, erased.isNothing {
            throw Problem(
                .unknownDevice,
                "Nothing of a device \"\(key.id)\" is here: it is not registered, and no event or "
                    + "fact names it.")
        }
        return try Self.told(answer, ("device", key.id))
    }

    /// Without the counts: how much there is to erase only erasing finds out.
    private func wouldErase(
        _ erasure: ErasureSubject, _ subject: (name: String, id: Identifier)
    ) async throws(Problem) -> DoorResponse {
        if let refusal = await relay.refusal(of: erasure) { throw Problem(refusal) }
        return .gone(subject.name, subject.id.rawValue, "erased", isDryRun: true)
    }

    private static func told(
        _ answer: ErasureAnswer, _ subject: (name: String, id: Identifier)
    ) throws(Problem) -> DoorResponse {
        switch answer {
        case .erased(let erased):
            return .json { writer in
                writer.beginObject()
                writer.member(subject.name, subject.id.rawValue)
                writer.member("result", "erased")
                writer.member("events", Int64(erased.events))
                writer.member("facts", Int64(erased.facts))
                writer.member("activities", Int64(erased.activities))
                writer.member("out_of_file", erased.isOutOfFile)
                writer.endObject()
            }
        case .refused(let refusal): throw Problem(refusal)
        case .failed(let error): throw Problem(error)
        }
    }
}
