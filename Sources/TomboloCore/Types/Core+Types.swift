import TomboloJSON

// Registered types, and their checks of commands.

extension Core {
    /// Registers a type. If `app` is nil, it is of the tenant's only app.
    mutating func put(
        _ type: ActivityType, named name: String, app: String?, tenant: TenantID,
        _ ticket: Ticket, now: Instant
    ) {
        do throws(Refusal) {
            let key = ActivityType.Key(
                tenant: tenant, app: try configuration.app(app, of: tenant), name: name)
            try types.check(key)
            if type.budgetClass == .lab,
                !configuration.apps.contains(where: {
                    $0.tenant == tenant && $0.id == key.app && $0.allowsLab
                })
            {
                throw Refusal(
                    .labRefused,
                    "class \"lab\" is only for an app whose endpoint is a simulator",
                    errors: [FieldError(pointer: "/budget_class", message: "is refused here")])
            }
            let (record, before) = types.put(type, key)
            if type.budgetClass != before?.budgetClass { sweeps.add(.grants, now: now) }
            journal.write(record)
            var stored = Stored(before == nil ? .created : .updated)
            stored.lint =
                Lint.of(type, replacing: before) + activities.runningTypeLints(of: type, key)
            journal.answer(ticket, stored)
        } catch {
            counters[tenant].commandsRefused += 1
            journal.answerNow(ticket, .refused(error))
        }
    }

    /// A registered type; nil if there is none. If `app` is nil, it is of the tenant's only app.
    package func typeView(_ name: String, app: String?, tenant: TenantID) -> TypeView? {
        guard let app = app ?? configuration.onlyApp(of: tenant) else { return nil }
        let key = ActivityType.Key(tenant: tenant, app: app, name: name)
        return types[key].map {
            TypeView(
                app: app, name: name, budgetClass: $0.budgetClass, body: $0.body)
        }
    }

    /// What the registered types say about an activity now; nil if it is not in memory.
    package func typeCheck(_ key: ActivityKey) -> TypeCheck? {
        guard let slot = activities.slot(of: key), let durable = activities[slot].durable else {
            return nil
        }
        let definition = activities[slot].definition
        let type = types.type(of: definition, key.tenant)
        let names = types.keys(of: key.tenant).filter { $0.app == definition.app }
            .map(\.name)
        return TypeCheck(
            isRegistered: type != nil, hasSchema: type?.state != nil,
            faults: (type?.faults(in: durable.state) ?? []).map { "\($0.pointer) \($0.message)" },
            registered: names.sorted())
    }

    /// Throws if the new state does not match its type. For a clip, each frame is checked alone.
    func checkState(
        _ projection: Projection, _ definition: Activity.Definition, _ content: Command.Content,
        _ tenant: TenantID
    ) throws(Refusal) {
        guard let type = types.type(of: definition, tenant) else { return }
        switch content {
        // An end or a stop without change is always accepted, even if the type has become stricter.
        case .end(let end):
            if case .none = end.change { return }
        case .stop: return
        case .start, .update, .play: break
        }
        var clip: JSONPointer?
        if case .play(let played) = content { clip = played.path }
        if let fault = type.history?.fault(of: content)
            ?? type.presence?.fault(of: projection.state, playing: clip)
            ?? type.versionFault(of: projection.state, playing: clip)
        {
            throw Refusal(
                .invalidField, "\(fault.pointer.dropFirst()) \(fault.message)", errors: [fault])
        }
        guard let schema = type.state else { return }
        var faults: [FieldError] = []
        if case .play(let clip) = content {
            let demand = schema.at(clip.path)
            for (pointer, frame) in clip.givenFrames where demand != nil {
                faults += demand?.faults(in: frame.document.root, at: pointer) ?? []
            }
        } else {
            faults = type.faults(in: projection.state)
        }
        guard !faults.isEmpty else { return }
        throw Refusal(
            .stateInvalid,
            "the state would not decode into \(definition.type), and the phone would drop the "
                + "push silently; correct the members below, or the type with PUT /v1/types/"
                + definition.type,
            errors: Array(faults.prefix(StateSchema.faultsMax)))
    }
}
