import TomboloAPI
import TomboloCore
import TomboloJSON
import TomboloRelay

extension ServerDoors {
    /// Limit for a type's name; a Swift type's name is far shorter.
    private static let typeBytesMax = 256

    func putType(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let name = request.parameter("type")
        guard (1...Self.typeBytesMax).contains(name.utf8.count) else {
            throw Problem(.invalidField, "A type's name has 1 to \(Self.typeBytesMax) bytes.")
        }
        let document = try await request.json(atMost: configuration.bodyBytesMax)
        let type: ActivityType
        do { type = try ActivityType(reading: document.root) } catch {
            throw Problem(Self.suggesting(error))
        }
        let app = document.root["app"]?.string
        try await checkBudgetClass(type.budgetClass, of: name, app: app, request)
        if try request.isDryRun {
            let tenant = request.tenant
            let stored = try await tried { (core, _) throws(Refusal) in
                try core.dryRunType(type, named: name, app: app, tenant: tenant)
            }
            return .json { TypeAnswer(type: name, stored: stored, isDryRun: true).write(to: &$0) }
        }
        let deed = deed("type.put", ["type": name, "app": app ?? ""], request)
        let answer = await relay.storeType(
            type, named: name, app: app, tenant: request.tenant, deed: deed)
        let stored = try Self.stored(answer, "a type")
        tell(deed, stored.kind == .created ? "a type is registered" : "a type is registered again")
        let told = TypeAnswer(type: name, stored: stored)
        return .json(told.httpStatus) { told.write(to: &$0) }
    }

    /// Suggests the schema's member, because its name is too different for a similarity search.
    private static func suggesting(_ faults: FieldErrors) -> FieldErrors {
        FieldErrors(
            faults.errors.map { error in
                guard ["/schema", "/state_schema", "/content_state"].contains(error.pointer),
                    error.message.hasPrefix(FieldReader.unknown)
                else { return error }
                return FieldError(
                    pointer: error.pointer,
                    message: FieldReader.unknown
                        + "; did you mean \"state\", the state's schema?")
            })
    }

    /// Throws if a producer raises the class of a type: a class spends the phone's budget, which
    /// the operator grants. A producer may lower it or send the type unchanged.
    private func checkBudgetClass(
        _ asked: BudgetClass?, of name: String, app: String?, _ request: DoorRequest
    ) async throws(Problem) {
        guard let asked, let principal = request.principal,
            !principal.scopes.contains(.operate)
        else { return }
        let known = await relay.type(name, app: app, tenant: request.tenant)?.budgetClass
        guard asked.rawValue > (known ?? .standard).rawValue else { return }
        let message = "must not be above \((known ?? .standard).name) without scope operate"
        throw AccessControl.forbidden(
            .operate, key: principal,
            errors: [FieldError(pointer: "/budget_class", message: message)])
    }

    func showType(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let name = request.parameter("type")
        let view = await relay.type(name, app: request.target["app"], tenant: request.tenant)
        guard let view else {
            throw Problem(
                .unknownType,
                "No type \"\(name)\" is registered. Register it with PUT /v1/types/\(name).")
        }
        return .json { view.write(to: &$0) }
    }
}
