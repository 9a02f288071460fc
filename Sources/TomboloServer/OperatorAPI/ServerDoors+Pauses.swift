import TomboloAPI
import TomboloCore
import TomboloHTTP
import TomboloJSON
import TomboloRelay

extension ServerDoors {
    func createPause(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let asked = try await read(request, PauseRequest.init(reading:))
        let tenant = request.tenant
        let objection = await relay.read { core, _ in core.objection(to: asked, of: tenant) }
        if let objection { throw Problem(objection) }
        if try request.isDryRun {
            var pause = try await tried { (core, now) throws(Refusal) in
                try core.dryRunPause(.pause(asked), of: tenant, now: now)
            }
            pause.key = request.asking
            return .json { pause.write(to: &$0, isDryRun: true) }
        }
        let stored = try await store(.pause(asked), request)
        let pauses = await relay.pauses(of: request.tenant)
        guard let pause = pauses.first(where: { $0.number == stored.number }) else {
            throw Problem(.internalError, "The pause was taken back before it could be shown.")
        }
        tell(
            deed("pause.began", ["pause": pause.name], request),
            pause.alertsOnly ? "alerts are paused" : "pushes are paused")
        return .json(201, ["location": "/v1/pauses/\(pause.name)"]) { pause.write(to: &$0) }
    }

    func listPauses(_ request: DoorRequest) async -> DoorResponse {
        let pauses = await relay.pauses(of: request.tenant)
        return .object { $0.array("pauses", of: pauses) { $1.write(to: &$0) } }
    }

    func showPause(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let serial = try pauseSerial(request)
        let pauses = await relay.pauses(of: request.tenant)
        guard let pause = pauses.first(where: { $0.serial == serial }) else {
            throw Self.unknownPause(request)
        }
        return .json { pause.write(to: &$0) }
    }

    func deletePause(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let serial = try pauseSerial(request)
        let isDryRun = try request.isDryRun
        if isDryRun {
            let tenant = request.tenant
            _ = try await tried { (core, now) throws(Refusal) in
                try core.dryRunPause(.resume(serial), of: tenant, now: now)
            }
        } else {
            _ = try await store(.resume(serial), request)
            tell(
                deed("pause.ended", ["pause": request.parameter("id")], request),
                "a pause is over")
        }
        return .gone("id", request.parameter("id"), isDryRun: isDryRun)
    }

    private func pauseSerial(_ request: DoorRequest) throws(Problem) -> Int64 {
        guard let serial = Pause.serial(ofName: request.parameter("id")) else {
            throw Self.unknownPause(request)
        }
        return serial
    }

    private static func unknownPause(_ request: DoorRequest) -> Problem {
        Problem(
            .unknownPause,
            "No pause \"\(request.parameter("id"))\" is in force. List them with GET /v1/pauses.")
    }

    private func store(
        _ command: PauseCommand, _ request: DoorRequest
    ) async throws(Problem) -> Stored {
        try Self.stored(
            await relay.submitPauseCommand(command, of: request.tenant, by: request.asking),
            "a pause")
    }
}
