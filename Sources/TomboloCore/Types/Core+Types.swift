import TomboloJSON

// Registered types, and what they demand of commands.

extension Core {
    /// More types of one tenant are refused.
    static let typesMax = 1_000

    /// Registers a type; `app` nil: the tenant's only one.
    mutating func put(
        _ type: ActivityType, named name: String, app: String?, tenant: TenantID,
        _ ticket: Ticket, now: Instant, effects: inout Effects
    ) {
        do throws(Refusal) {
            let key = try typeKey(name, app: app, tenant: tenant)
            let known = types[key]
            let count = types.keys.count { $0.tenant == tenant }
            guard known != nil || count < Self.typesMax else {
                throw Refusal(
                    .limitReached,
                    "there are \(Self.typesMax) types already, as many as a tenant may have")
            }
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
            let registered = RegisteredType(number: known?.number ?? nextTypeNumber, type: type)
            if known == nil { nextTypeNumber += 1 }
            types[key] = registered
            lastVisible = nil
            if type.budgetClass != known?.type.budgetClass {
                sweeps.add(.grants, now: now)
            }
            staged.records.append(registered.record(key))
            var stored = Stored(known == nil ? .created : .updated)
            stored.lint = Self.lints(of: type, replacing: known?.type)
            staged.stored.append((ticket, stored))
        } catch {
            counters[tenant].commandsRefused += 1
            effects.answers.append((ticket, .refused(error)))
        }
    }

    private func typeKey(
        _ name: String, app: String?, tenant: TenantID
    ) throws(Refusal) -> ActivityType.Key {
        ActivityType.Key(tenant: tenant, app: try self.app(app, of: tenant), name: name)
    }

    /// A registered type; `app` nil: the tenant's only one.
    package func typeView(_ name: String, app: String?, tenant: TenantID) -> TypeView? {
        guard let app = app ?? configuration.onlyApp(of: tenant) else { return nil }
        let key = ActivityType.Key(tenant: tenant, app: app, name: name)
        return types[key].map {
            TypeView(
                app: app, name: name, budgetClass: $0.type.budgetClass, body: $0.type.body)
        }
    }

    /// What the types that are registered say of an activity as it is now; nil where it is not in
    /// memory.
    package func typeCheck(_ key: ActivityKey) -> TypeCheck? {
        guard let slot = activityByKey[key], let durable = activities[slot].durable else {
            return nil
        }
        let definition = activities[slot].definition
        let type = type(of: definition, key.tenant)
        let names = types.keys.filter { $0.tenant == key.tenant && $0.app == definition.app }
            .map(\.name)
        return TypeCheck(
            isRegistered: type != nil, hasSchema: type?.state != nil,
            faults: (type?.faults(in: durable.state) ?? []).map { "\($0.pointer) \($0.message)" },
            registered: names.sorted())
    }

    /// The type of an activity, where it is registered.
    func type(of definition: Activity.Definition, _ tenant: TenantID) -> ActivityType? {
        // Most relays have none: then nothing is looked up.
        guard !types.isEmpty else { return nil }
        return types[.init(tenant: tenant, app: definition.app, name: definition.type)]?.type
    }

    mutating func adoptType(_ record: Record) -> [String] {
        nextTypeNumber = max(nextTypeNumber, record.number + 1)
        guard let value = record.value else { return [] }
        guard let (key, type) = RegisteredType.read(value, number: record.number) else {
            return ["the record of type number \(record.number) cannot be read"]
        }
        types[key] = type
        return []
    }

    /// It is the merged state that is checked; a clip is checked frame by frame.
    func checkState(
        _ projection: Projection, _ definition: Activity.Definition, _ content: Command.Content,
        _ tenant: TenantID
    ) throws(Refusal) {
        guard let type = type(of: definition, tenant), let schema = type.state else { return }
        switch content {
        // A card must not linger because its type has become stricter since.
        case .end(let end):
            if case .none = end.change { return }
        case .stop: return
        case .start, .update, .play: break
        }
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

    /// The state as the phone's type decodes it.
    func forPhone(
        _ state: JSON, _ definition: Activity.Definition, _ tenant: TenantID
    ) -> JSON {
        type(of: definition, tenant)?.encoded(state) ?? state
    }

    /// A command with what its type says where its producer said nothing: an alert's time. It goes
    /// into the body that is kept, so that the log alone tells what was done.
    static func complete(_ command: Command, _ type: ActivityType?) -> Command {
        guard let ttl = type?.alertTTL, alert(command.content) != nil else { return command }
        var next = command
        switch command.content {
        case .start(var start):
            start.alertTTL = ttl
            next.content = .start(start)
        case .update(var update):
            update.alertTTL = ttl
            next.content = .update(update)
        // An end's alert goes with it or not at all.
        case .end, .play, .stop: return command
        }
        let body = JSON(unchecked: command.body)
        guard body.document.root["alert_ttl"] == nil,
            let written = body.setting(
                JSONPointer(tokens: ["alert_ttl"]),
                to: JSON(unchecked: Array("\"\(ttl.text)\"".utf8)))
        else { return command }
        next.body = written.bytes
        return next
    }
}
