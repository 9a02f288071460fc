import TomboloAPI
import TomboloCore
import TomboloHTTP
import TomboloJSON
import TomboloRelay

extension ServerDoors {
    func registerDevice(
        _ request: DoorRequest, _ exchange: HTTPExchange
    ) async throws(Problem) -> DoorResponse {
        let registration = try await read(request, exchange) {
            view throws(FieldErrors) in try DeviceRegistration(reading: view)
        }
        // `os` must be a version alone: features depend on it, and "iOS 18.2" is no version.
        if let first = registration.os?.utf8.first, !(UInt8(ascii: "0")...57).contains(first) {
            throw Problem(
                FieldErrors([
                    FieldError(
                        pointer: "/os", message: "must be the version alone, such as \"26.1\"")
                ]))
        }
        if registration.budgetClass != nil || registration.forgets.contains(.budgetClass),
            let principal = request.principal,
            !principal.scopes.contains(.operate)
        {
            var problem = AccessControl.forbidden(.operate, device: nil, key: principal)
            problem.errors = [
                FieldError(pointer: "/budget_class", message: "is the operator's: scope operate")
            ]
            throw problem
        }
        let key = try request.deviceKey()
        let before = await relay.device(key)?.registration.user
        let next: String?
        switch request.deviceAuthority {
        case .device(let bound, _, _): next = bound ?? before
        case .operate:
            next = registration.forgets.contains(.user) ? nil : registration.user ?? before
        }
        let lint =
            before == nil || isSameText(before, next)
            ? [] : Lint.ofFormerKeys(access.keysOfOthers(than: next, key).count)
        return try await submit(.register(registration), request, lint: lint)
    }

    func showDevice(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let key = try request.deviceKey()
        guard let view = await relay.device(key) else {
            throw Problem.unknownDevice(key.id)
        }
        return .json { view.write(to: &$0) }
    }

    /// `GET /v1/devices/{device}/check`. It answers for devices that are not registered, too.
    func checkDevice(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let key = try request.deviceKey()
        let view = await relay.device(key)
        let check = DeviceCheck(
            of: key.id, view, boundUsers: access.boundUsers(of: key), at: await relay.wallNow())
        return .json { check.write(to: &$0) }
    }

    func deleteDevice(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        try await submit(.delete, request)
    }

    func registerToken(
        _ request: DoorRequest, _ exchange: HTTPExchange
    ) async throws(Problem) -> DoorResponse {
        let name = try tokenName(request)
        let token = try await read(request, exchange) {
            view throws(FieldErrors) in try TokenRegistration(reading: view)
        }
        return try await submit(.putToken(name, token), request, ("token", name.text))
    }

    func reconcileTokens(
        _ request: DoorRequest, _ exchange: HTTPExchange
    ) async throws(Problem) -> DoorResponse {
        let set = try await read(request, exchange) {
            view throws(FieldErrors) in try TokenSet(reading: view)
        }
        return try await submit(.putTokens(set), request)
    }

    func deleteToken(
        _ request: DoorRequest, _ exchange: HTTPExchange
    ) async throws(Problem) -> DoorResponse {
        let name = try tokenName(request)
        let token = try await read(request, exchange, orEmpty: true) {
            view throws(FieldErrors) in try TokenRegistration(reading: view)
        }
        return try await submit(.deleteToken(name, token), request, ("token", name.text))
    }

    private func tokenName(_ request: DoorRequest) throws(Problem) -> TokenName {
        let text = request.parameter("name")
        guard let name = TokenName(text) else {
            throw Problem(
                .invalidField,
                "\"\(text)\" names no token. Write start:TYPE, activity:ID, widget or control:KIND."
            )
        }
        return name
    }

    func reportPresence(
        _ request: DoorRequest, _ exchange: HTTPExchange
    ) async throws(Problem) -> DoorResponse {
        let report = try await read(request, exchange) {
            view throws(FieldErrors) in try PresenceReport(reading: view)
        }
        return try await submit(.presence(report), request)
    }

    func reportActivity(
        _ request: DoorRequest, _ exchange: HTTPExchange
    ) async throws(Problem) -> DoorResponse {
        let text = request.parameter("ref")
        guard let reference = ActivityReference(text) else {
            throw Problem(
                .invalidField,
                "\"\(text)\" is not the id of an activity. Write the id from the attributes.")
        }
        let report = try await read(request, exchange) {
            view throws(FieldErrors) in try PhoneReport(reading: view)
        }
        return try await submit(
            .report(reference, report), request, ("activity", reference.text))
    }

    private func read<Value: Sendable>(
        _ request: DoorRequest, _ exchange: HTTPExchange, orEmpty: Bool = false,
        _ reading: (JSONView) throws(FieldErrors) -> Value
    ) async throws(Problem) -> Value {
        let document = try await request.json(
            of: exchange, atMost: configuration.bodyBytesMax, orEmpty: orEmpty)
        do {
            return try reading(document.root)
        } catch {
            throw Problem(error)
        }
    }

    private func submit(
        _ command: DeviceCommand, _ request: DoorRequest,
        _ subject: (name: String, value: String)? = nil, lint: [Lint] = []
    ) async throws(Problem) -> DoorResponse {
        let key = try request.deviceKey()
        let authority = request.deviceAuthority
        let isDryRun = try request.isDryRun
        let stored =
            isDryRun
            ? try Self.found(await relay.dryRunDeviceCommand(command, for: key, by: authority))
            : try Self.stored(
                await relay.submitDeviceCommand(command, for: key, by: authority), "a device")
        let answer = StoredAnswer(
            device: key.id, subject: subject, kind: stored.kind, presence: stored.presence,
            endsWaiting: stored.endsWaiting, lint: stored.lint + lint, isDryRun: isDryRun)
        return .json(answer.httpStatus) { answer.write(to: &$0) }
    }
}
