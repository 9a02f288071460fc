import TomboloAPI
import TomboloCore
import TomboloHTTP
import TomboloJSON

/// The phones of `tombolo dev`. In other relays these paths answer 404.
extension ServerDoors {
    func phones(of tenant: TenantID) -> (any PhoneControl)? {
        guard let phoneWall, phoneWall.tenant == tenant else { return nil }
        return phoneWall.control
    }

    func listPhones(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        try await forward("GET", "", [], request)
    }

    func showPhone(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        try await forward("GET", "/\(try request.identifier("phone"))", [], request)
    }

    /// Performs an action of the user, the system or the app on a phone. A dry run only checks it.
    func actOnPhone(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let path = "/\(try request.identifier("phone"))"
        let isDryRun = try request.isDryRun
        let action = try await read(request, PhoneAction.init(reading:))
        guard isDryRun else { return try await forward("POST", path, action.json.bytes, request) }
        let phone = try await forward("GET", path, [], request)
        return .object(isDryRun: true) { writer in
            // Add the members of the simulator's answer if it is JSON.
            if let view = (try? JSONDocument(phone.body))?.root {
                for (name, value) in view.members { writer.member(name, value.json) }
            }
        }
    }

    /// Starts or stops a scenario. A dry run only looks at it.
    func setScenario(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let name = try request.identifier("scenario")
        let isDryRun = try request.isDryRun
        let wish = try await read(request, ScenarioRequest.init(reading:))
        let row = try await control(request).scenario("\(name)", runs: isDryRun ? nil : wish.runs)
        guard let row else { throw Problem(.unknownRoute, "There is no scenario \"\(name)\".") }
        return .object(isDryRun: isDryRun) { writer in
            for (name, value) in row.document.root.members { writer.member(name, value.json) }
        }
    }

    private func control(_ request: DoorRequest) throws(Problem) -> any PhoneControl {
        guard let control = phones(of: request.tenant) else {
            throw Problem(
                .unknownRoute,
                "There are no simulated phones here. They are in: tombolo dev")
        }
        return control
    }

    private func forward(
        _ method: String, _ path: String, _ body: [UInt8], _ request: DoorRequest
    ) async throws(Problem) -> DoorResponse {
        let control = try control(request)
        let answer: PhoneAnswer
        do {
            answer = try await control.answer(method, path, body)
        } catch {
            throw Problem(.notReady, "The simulator does not answer. Start dev again: tombolo dev")
        }
        guard (200..<300).contains(answer.status) else {
            // A refusal of the simulator is JSON with a member `error`. Other bodies are ignored.
            let said = (try? JSONDocument(answer.body))?.root["error"]?.string
            let detail = said ?? "the simulator answered \(answer.status)"
            switch answer.status {
            case 404: throw Problem(.unknownDevice, detail)
            // The phone exists, but it does not have this card.
            case 409: throw Problem(.unknownActivity, detail)
            default: throw Problem(.invalidField, detail)
            }
        }
        return DoorResponse(
            status: 200, fields: ["content-type": "application/json"], body: answer.body)
    }
}
