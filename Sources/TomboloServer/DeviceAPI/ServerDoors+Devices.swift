import TomboloAPI
import TomboloCore
import TomboloRelay

extension ServerDoors {
    func registerDevice(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let registration = try await read(request, DeviceRegistration.init(reading:))
        // `os` must be a version alone: features depend on it, and "iOS 18.2" is no version.
        if let first = registration.os?.utf8.first, !(UInt8(ascii: "0")...57).contains(first) {
            let message = "must be the version alone, such as \"26.1\""
            throw Problem(FieldErrors([FieldError(pointer: "/os", message: message)]))
        }
        if registration.budgetClass != nil || registration.forgets.contains(.budgetClass),
            let principal = request.principal, !principal.scopes.contains(.operate)
        {
            let message = "is the operator's: scope operate"
            throw AccessControl.forbidden(
                .operate, key: principal,
                errors: [FieldError(pointer: "/budget_class", message: message)])
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
        let view = try await known(request.deviceKey())
        return .json { view.write(to: &$0) }
    }

    func known(_ key: DeviceKey) async throws(Problem) -> DeviceView {
        if let view = await relay.device(key) { return view }
        throw .unknownDevice(key.id)
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

    func registerToken(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let name = try tokenName(request)
        let token = try await read(request, TokenRegistration.init(reading:))
        return try await submit(.putToken(name, token), request, ("token", name.text))
    }

    func reconcileTokens(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let set = try await read(request, TokenSet.init(reading:))
        return try await submit(.putTokens(set), request)
    }

    func deleteToken(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let name = try tokenName(request)
        let token = try await read(request, orEmpty: true, TokenRegistration.init(reading:))
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

    func reportPresence(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let report = try await read(request, PresenceReport.init(reading:))
        return try await submit(.presence(report), request)
    }

    func reportActivity(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let text = request.parameter("ref")
        guard let reference = ActivityReference(text) else {
            throw Problem(
                .invalidField,
                "\"\(text)\" is not the id of an activity. Write the id from the attributes.")
        }
        let report = try await read(request, PhoneReport.init(reading:))
        return try await submit(.report(reference, report), request, ("activity", reference.text))
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
            ? try await tried { (core, now) throws(Refusal) in
                try core.dryRunDeviceCommand(command, for: key, by: authority, now: now)
            }
            : try Self.stored(
                await relay.submitDeviceCommand(command, for: key, by: authority), "a device")
        let answer = StoredAnswer(
            device: key.id, subject: subject, kind: stored.kind, presence: stored.presence,
            endsWaiting: stored.endsWaiting, lint: stored.lint + lint, isDryRun: isDryRun)
        return .json(answer.httpStatus) { answer.write(to: &$0) }
    }
}
