import TomboloAPI
import TomboloCore
import TomboloHTTP
import TomboloJSON

/// The phones of `tombolo dev`. Without them these paths answer 404.
extension ServerDoors {
    func phones(of tenant: TenantID) -> (any PhoneControl)? {
        guard let phoneWall, phoneWall.tenant == tenant else { return nil }
        return phoneWall.control
    }

    /// Shows all phones, or the one in the path.
    func showPhones(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        guard request.route.operation == .showPhone else {
            return try await forward("GET", "", [], request)
        }
        return try await forward("GET", "/\(try request.identifier("phone"))", [], request)
    }

    /// Carries out a deed of the user, the system or the app on a phone.
    func actOnPhone(
        _ request: DoorRequest, _ exchange: HTTPExchange
    ) async throws(Problem) -> DoorResponse {
        let path = "/\(try request.identifier("phone"))"
        let isDryRun = try request.isDryRun
        let document = try await request.json(of: exchange, atMost: configuration.bodyBytesMax)
        let action: PhoneAction
        do {
            action = try PhoneAction(reading: document.root)
        } catch {
            throw Problem(error)
        }
        guard isDryRun else { return try await forward("POST", path, action.json.bytes, request) }
        let phone = try await forward("GET", path, [], request)
        return .json { writer in
            writer.beginObject()
            writer.member("dry_run", true)
            // Pass on only the simulator's own JSON.
            if let view = (try? JSONDocument(phone.body))?.root {
                for (name, value) in view.members { writer.member(name, value.json) }
            }
            writer.endObject()
        }
    }

    private func forward(
        _ method: String, _ path: String, _ body: [UInt8], _ request: DoorRequest
    ) async throws(Problem) -> DoorResponse {
        guard let control = phones(of: request.tenant) else {
            throw Problem(
                .unknownRoute,
                "There are no simulated phones here. They are in: tombolo dev")
        }
        let answer: PhoneAnswer
        do {
            answer = try await control.answer(method, path, body)
        } catch {
            throw Problem(.notReady, "The simulator does not answer. Start dev again: tombolo dev")
        }
        guard (200..<300).contains(answer.status) else {
            // The simulator's refusal is JSON with the member `error`; anything else is ignored.
            let said = (try? JSONDocument(answer.body))?.root["error"]?.string
            let detail = said ?? "the simulator answered \(answer.status)"
            switch answer.status {
            case 404: throw Problem(.unknownDevice, detail)
            // The phone exists, but it has no such card.
            case 409: throw Problem(.unknownActivity, detail)
            default: throw Problem(.invalidField, detail)
            }
        }
        return DoorResponse(
            status: 200, fields: ["content-type": "application/json"], body: answer.body)
    }
}
