import TomboloJSON

/// What a command would do. Nothing is stored or sent.
package struct DryRun: Sendable {
    /// How one device of the audience would be reached.
    package struct Route: Sendable {
        package var device: Identifier
        /// `push_to_start`, `update_token` or `channel`; nil if the device cannot be reached now.
        package var route: String?
        package var grant: GrantInForce
    }

    package var activity: Identifier
    package var version: Int64
    package var kind: EventKind
    /// False if the activity already has this state.
    package var changes: Bool
    /// The body of the push; a real push may differ in its timestamp and in values of its device.
    package var payload: [UInt8]
    package var payloadBytesMax: Int
    package var pushType = "liveactivity"
    package var topic: String
    /// The routes of at most 100 devices.
    package var routes: [Route]
    package var devices: Int
    package var plan: ClipPlan?
    package var lint: [Lint]
}

extension Core {
    private static let routesMax = 100

    /// What a command would do now. Throws the refusal that it would get.
    package func dryRun(
        _ command: Command, remembered: PositionedHead? = nil, now: Instant
    ) throws(Refusal) -> DryRun {
        var trial = trial()
        return try tryCommand(command, on: &trial, remembered, now: now)
    }

    /// What several commands would do, each applied after those before it.
    ///
    /// - Parameter trial: made by `trial()`. Each command changes it for the later ones.
    package func dryRunAll(
        _ commands: some Collection<Command>, on trial: inout Core,
        remembered: [ActivityKey: PositionedHead] = [:], now: Instant
    ) -> [Result<DryRun, Refusal>] {
        commands.map { command in
            Result { () throws(Refusal) in
                try tryCommand(command, on: &trial, remembered[command.activity], now: now)
            }
        }
    }

    /// What the registration of a type would do. Throws the refusal that it would get.
    package func dryRunType(
        _ type: ActivityType, named name: String, app: String?, tenant: TenantID
    ) throws(Refusal) -> Stored {
        var trial = trial()
        // A trial has no devices, so the time does not matter.
        trial.put(
            type, named: name, app: app, tenant: tenant, Ticket(0), now: .distantPast)
        if case .refused(let refusal)? = trial.journal.answer(to: Ticket(0)) { throw refusal }
        var stored = trial.journal.comingAnswer(to: Ticket(0)) ?? Stored(.updated)
        let key = ActivityType.Key(
            tenant: tenant, app: try configuration.app(app, of: tenant), name: name)
        stored.lint += activities.runningTypeLints(of: type, key)
        return stored
    }

    /// A core without activities and devices, in which dry runs try commands.
    package func trial() -> Core {
        var configuration = configuration
        // A trial has only the cards of its commands, so limits for the number of cards make no
        // sense.
        configuration.limits.pendingCardsMax = .max
        configuration.limits.cardsPerTenantMax = .max
        configuration.limits.cardsMax = .max
        var trial = Core(configuration: configuration, seed: 0)
        trial.isTrial = true
        trial.types = types
        trial.clock.follow(clock)
        trial.activities.adoptDamage(of: activities)
        return trial
    }

    /// Tries the command in the trial core, and describes the result.
    private func tryCommand(
        _ command: Command, on trial: inout Core, _ remembered: PositionedHead?, now: Instant
    ) throws(Refusal) -> DryRun {
        let present = activities.slot(of: command.activity)
        switch try admitOnTrial(command, &trial, remembered, now: now) {
        case .refused(let refusal): throw refusal
        case .replay: throw .keyReused  // A trial has no idempotency keys.
        case .standing(let slot):
            return report(trial.activities[slot], command, event: nil, present, now: now)
        case .pending(let index):
            let event = trial.journal.event(index)
            return report(
                trial.activities[event.activity], command, event: event, present, now: now)
        }
    }

    /// Tries the command, after copying its activity to the trial core.
    private func admitOnTrial(
        _ command: Command, _ trial: inout Core, _ remembered: PositionedHead?, now: Instant
    ) throws(Refusal) -> Admission {
        if case .start(let start) = command.content {
            try checkAudience(start, command.activity, isTry: true)
        }
        if trial.activities.slot(of: command.activity) == nil {
            if let present = activities.slot(of: command.activity) {
                var activity = activities[present]
                activity.destinations = []
                _ = trial.activities.insert(activity)
            } else if let last = remembered {
                var effects = Effects()
                trial.step(.remembered(last), now: now, effects: &effects)
            }
        }
        return trial.admit(command, now: now)
    }

    /// The activities in the request's slots that would end, with their versions after the end.
    package func dryRunEnds(
        _ request: EndMany, now: Instant
    ) throws(Refusal) -> [(activity: Identifier, version: Int64)] {
        var trial = trial()
        var ended: [(activity: Identifier, version: Int64)] = []
        for slot in activities.indices.clamped(to: request.slots) where matches(slot, request) {
            let command = Command(
                activity: activities[slot].key, content: .end(request.end), body: request.body)
            switch try admitOnTrial(command, &trial, nil, now: now) {
            case .pending(let index):
                let place = trial.journal.event(index).activity
                ended.append((command.activity.id, trial.activities[place].accepted.version))
                // Empty the trial's batch, so that it never becomes full.
                trial.journal.drop()
            case .standing, .replay: break
            case .refused(let refusal): if ended.isEmpty { throw refusal }
            }
        }
        return ended
    }

    private func report(
        _ activity: Activity, _ command: Command, event: JournalBatch.Event?,
        _ present: ActivitySlot?,
        now: Instant
    ) -> DryRun {
        let definition = activity.definition
        let devices = audience(of: definition, command.activity.tenant)
        let (routes, count) = routes(of: activity, command.content.kind, present, devices)
        let slowest =
            routes.map(\.grant).max { $0.grant.frameInterval < $1.grant.frameInterval }
            ?? GrantInForce(
                budgetClass: .standard, grant: configuration.budgets[.standard])
        let content = content(
            activity, command.content, devices, present.map { activities[$0].destinations } ?? [],
            granted: slowest.grant.frameInterval, now: now)
        let payload = Payload.encode(content)
        var run = DryRun(
            activity: command.activity.id, version: activity.accepted.version,
            kind: command.content.kind, changes: event != nil, payload: payload,
            payloadBytesMax: definition.payloadBytesMax,
            topic: definition.app + ".push-type.liveactivity", routes: routes,
            devices: count, lint: [])
        if let plan = event?.plan {
            run.plan = self.plan(
                plan.clip, payloadBytes: plan.payloadBytes, activity.accepted, activity, slowest)
        }
        run.lint = dryRunLints(of: run, activity, command, present, now: now)
        return run
    }

    /// Whom a command would reach: for a start the registered devices of the audience, for another
    /// command the activity's destinations.
    private func routes(
        of activity: Activity, _ kind: EventKind, _ present: ActivitySlot?, _ devices: [DeviceSlot]
    ) -> ([DryRun.Route], count: Int) {
        if kind != .start, let present {
            let all = activities[present].destinations.compactMap { destinations.at($0) }.filter {
                $0.incarnation == activity.incarnation
            }
            let routes = all.prefix(Self.routesMax).compactMap { destination in
                self.devices[destination.device].map { device in
                    DryRun.Route(
                        device: device.key.id, route: route(destination, device),
                        grant: grantInForce(destination))
                }
            }
            return (routes, all.count)
        }
        let (definition, tenant) = (activity.definition, activity.key.tenant)
        let name = TokenName.activity(activity.reference)
        let routes = devices.prefix(Self.routesMax).compactMap { slot -> DryRun.Route? in
            guard let device = self.devices[slot],
                let upstream = configuration.upstream(of: device)
            else { return nil }
            let route =
                device.channel != nil
                ? "channel"
                : device.tokens[name] != nil && definition.route.mayAdopt
                    ? "update_token"
                    : device.tokens[.start(type: definition.type)] != nil
                        && definition.route != .adopt
                        ? "push_to_start" : nil
            let grant = grantInForce(device: slot, definition, tenant, upstream)
            return DryRun.Route(device: device.key.id, route: route, grant: grant)
        }
        return (routes, devices.count)
    }

    /// The id of the relay's own channel that a start would use; nil if none is free.
    private func freeChannel(for start: Activity.Definition, _ devices: [DeviceSlot], now: Instant)
        -> String?
    {
        guard start.route == .channel || start.route == .auto,
            let device = devices.compactMap({ self.devices[$0] }).first(where: \.asksForToken),
            let upstream = configuration.upstream(of: device),
            let slot = channels[upstream].next(now: now)
        else { return nil }
        return self.devices[slot]?.channel?.id
    }

    /// Lints of a push that `commandLints(_:_:now:)` has found in the command already.
    private static let saidByCommand: Set<Lint.Code> = [
        .startWithoutAlert, .alertWithoutTitle, .alertSoundUnknown, .dismissalDateNotInFuture,
    ]

    /// Lints of the command, then lints of its push that say something new.
    private func dryRunLints(
        of run: DryRun, _ activity: Activity, _ command: Command, _ present: ActivitySlot?,
        now: Instant
    ) -> [Lint] {
        var known = activity
        known.destinations = present.map { activities[$0].destinations } ?? []
        let own = commandLints(command.content, known, now: now)
        let seen = Set(own.map(\.code))
        var headers = PayloadLint.Headers()
        headers.channel = activity.definition.isOnChannel ? "" : nil
        let pushed = PayloadLint.lints(
            payload: run.payload, headers: headers,
            type: types.type(of: activity.definition, command.activity.tenant), now: wall(now))
        // A lint that the command has already is not repeated for its push.
        return own
            + pushed.filter { lint in
                !seen.contains(lint.code) && !Self.saidByCommand.contains(lint.code)
            }
    }

    private func content(
        _ activity: Activity, _ content: Command.Content, _ devices: [DeviceSlot],
        _ destinations: SlotList<Tables.Cards>, granted: Span, now: Instant
    ) -> Payload.Content {
        let projection = activity.accepted
        let wall = wall(now)
        let event: Push.Event =
            switch content {
            // The cards on a channel exist already, and a broadcast cannot start one.
            case .start:
                activity.definition.route == .adopt || activity.definition.isOnChannel
                    ? .update : .start
            case .update, .play, .stop: .update
            case .end: .end
            }
        let state =
            event == .update
            ? firstState(of: activity, destinations, granted: granted, now: now)
            : projection.state(at: wall)
        // Each device has its own value of the presence binding: show the one of a device.
        let binding = types.type(of: activity.definition, activity.key.tenant)?.presence
        let isInFront = devices.contains { self.devices[$0]?.presence.isInFront(at: now) ?? false }
        let whole = binding?.write(binding?.rest(inFront: isInFront) ?? state, into: state) ?? state
        var payload = Payload.Content(
            timestamp: wall.seconds, event: event,
            state: types.encoded(whole, activity.definition, activity.key.tenant))
        payload.alert = content.alert
        payload.describe(projection, at: wall)
        if event == .start {
            payload.start = Payload.StartContent(
                type: activity.definition.type, attributes: activity.definition.attributes,
                asksForToken: devices.contains { self.devices[$0]?.asksForToken ?? false },
                channel: freeChannel(for: activity.definition, devices, now: now))
            payload.alert = payload.alert ?? Self.quietAlert
        }
        return payload
    }

    /// The devices or the channel in an activity's audience that exist now.
    func audience(of definition: Activity.Definition, _ tenant: TenantID) -> [DeviceSlot] {
        switch definition.audience {
        case .none: []
        case .devices(let ids):
            ids.compactMap { devices.slot(of: DeviceKey(tenant: tenant, id: $0)) }
        case .user(let user): devices.slots(of: UserKey(tenant: tenant, user: user))
        case .channel(let name):
            channels.slot(of: ChannelKey(tenant: tenant, name: name)).map { [$0] } ?? []
        }
    }
}
