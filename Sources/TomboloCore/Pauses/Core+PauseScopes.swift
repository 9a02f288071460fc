// Whether there is anything that a pause would hold.

extension Core {
    /// Why a pause would hold nothing; nil where its scope is known. Its operator, who misspelt a
    /// name, would believe that pushes wait.
    package func objection(to request: PauseRequest, of tenant: TenantID) -> Refusal? {
        switch request.scope {
        case .all: return nil
        case .app(let app):
            let apps = configuration.apps.filter { $0.tenant == tenant }.map(\.id)
            guard !apps.contains(app) else { return nil }
            return Refusal(
                .unknownApp, "no app \"\(app)\" is configured: the pause would hold nothing",
                errors: [FieldError(pointer: "/app", message: "is not configured")])
        case .type(let type):
            guard !types.keys.contains(where: { $0.tenant == tenant && isSameText($0.name, type) }),
                !activityByKey.values.contains(where: {
                    activities[$0].key.tenant == tenant
                        && isSameText(activities[$0].definition.type, type)
                })
            else { return nil }
            return Refusal(
                .unknownType,
                "no type \"\(type)\" is registered, and no activity is of it: the pause would "
                    + "hold nothing")
        case .activity(let id):
            guard activityByKey[ActivityKey(tenant: tenant, id: id)] == nil else { return nil }
            return Refusal(
                .unknownActivity, "no activity \"\(id)\": the pause would hold nothing")
        }
    }
}
