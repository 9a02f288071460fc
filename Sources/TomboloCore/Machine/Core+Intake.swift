import TomboloJSON

// Intake of producers' commands. All checks are made before anything is stored.

extension Core {
    mutating func takeCommand(
        _ command: Command, _ ticket: Ticket, now: Instant
    ) {
        makeRoom(for: CollectionOfOne(command), now: now)
        switch admit(command, now: now) {
        case .pending(let index): journal.answer(.event(index: index, ticket))
        case .standing(let slot):
            stand(slot, command.content.kind, ticket, now: now)
        case .replay(let seq): journal.answerNow(ticket, .replay(seq: seq))
        case .refused(let refusal):
            counters[command.activity.tenant].commandsRefused += 1
            journal.answerNow(ticket, .refused(refusal))
        }
    }

    enum Admission {
        /// The event's index in the pending batch.
        case pending(Int)
        /// The activity already has the state that the command asks for.
        case standing(ActivitySlot)
        case replay(seq: Int64)
        case refused(Refusal)
    }

    static let noRoom = Refusal(
        .logFull,
        "the disk of the log is nearly full: nothing was stored; free some space on it, then send "
            + "again")
    package static let isBehind = Refusal(.overloaded, "the log is behind; try again in a second")

    /// - Parameter isRated: false for one of the ends of many activities, which are sent in pieces.
    mutating func admit(
        _ command: Command, isRated: Bool = true, now: Instant
    ) -> Admission {
        guard hasRoom else { return .refused(Self.noRoom) }
        // A single event is accepted at any size, because the HTTP server has limited it already.
        let limits = configuration.limits
        let bytesMax = max(limits.pendingBytesMax, command.body.count)
        if journal.eventCount >= limits.pendingEventsMax
            || journal.bodyBytes + command.body.count > bytesMax
            || command.content.kind == .start
                && audiences.coming.cards.inAll > limits.pendingCardsMax
        {
            return .refused(Self.isBehind)
        }
        if let key = command.idempotency {
            switch idempotency.entry(command.activity.tenant, key.key, at: now) {
            case nil:
                if let refusal = idempotency.refusal(
                    of: command.activity.tenant, configuration.limits, now: now)
                {
                    return .refused(refusal)
                }
            case .running?:
                return .refused(
                    Refusal(.idempotencyKeyRunning, "a request with this key is still running"))
            case .recorded(let seq)?: return .replay(seq: seq)
            }
        }
        do {
            switch command.content {
            case .start(let start): return try admitStart(start, command, now: now)
            default: return try admitChange(command, isRated: isRated, now: now)
            }
        } catch {
            return .refused(error)
        }
    }

    private mutating func admitStart(
        _ start: Start, _ command: Command, now: Instant
    ) throws(Refusal) -> Admission {
        let digest = start.digest
        let slot = activities.slot(of: command.activity)
        if let slot {
            let activity = activities[slot]
            if command.expectation == .absent {
                throw Refusal(
                    .preconditionFailed, "the activity is there already",
                    version: activity.accepted.version)
            }
            try command.expectation.check(activity.accepted.version)
            if !activity.hasEnded {
                if start.has(activity.definition.digest, digest: digest) { return .standing(slot) }
                throw .running(activity, restart: command.restart)
            }
            if !command.restart {
                throw Refusal(
                    .activityEnded,
                    "the activity has ended; start it again with ?restart=true, or take a new id",
                    version: activity.accepted.version)
            }
        } else if let refusal = activities.refusal(of: command.activity) {
            // A damaged activity's state is unknown, so only an explicit restart may replace it.
            guard command.restart, command.expectation == .none else { throw refusal }
        } else if case .versions = command.expectation {
            throw Refusal(.preconditionFailed, "the activity is not there yet")
        }
        try checkAudience(start, command.activity)
        let app = try configuration.app(of: start, tenant: command.activity.tenant)
        let incarnation = (slot.map { activities[$0].incarnation } ?? 0) + 1
        let reference = ActivityReference(id: command.activity.id, incarnation: incarnation)
        let version = (slot.map { activities[$0].accepted.version } ?? 0) + 1
        let type =
            types[.init(tenant: command.activity.tenant, app: app, name: start.type)]
        let command = command.completed(by: type)
        let definition = Activity.Definition(
            start, type, app: app,
            attributes: try start.attributes(naming: reference, at: type.map(\.idAt)),
            startedAt: wall(now), digest: digest)
        var timed = start
        if case .start(let complete) = command.content { timed = complete }
        let projection = Projection(timed, version: version, at: wall(now))
        // Check the size first, because it limits the work of the checks after it.
        try PushSize.check(
            type?.widened(projection) ?? projection, definition, alert: start.alert,
            history: timed.history)
        try checkState(projection, definition, command.content, command.activity.tenant)
        let cards = devices.cards(of: start.audience, command.activity.tenant)
        try keys.rates.spend(cards, by: command.key, configuration.limits, now: now)
        let place = slot ?? newActivity(command.activity, definition, projection)
        if slot != nil { beginAnew(place, incarnation, definition, projection) }
        return .pending(addEvent(command, place, projection, definition: definition, now: now))
    }

    private mutating func beginAnew(
        _ slot: ActivitySlot, _ incarnation: Int64, _ definition: Activity.Definition,
        _ projection: Projection
    ) {
        rememberEnd(of: slot)
        activities[slot].accept(definition, incarnation: incarnation, projection)
        activities.recount(slot)
    }

    /// Stores the old incarnation's end in the checkpoints of its cards, because the new head does
    /// not contain it. Cards that are gone or over get it, too: a late token may bring one back.
    private mutating func rememberEnd(of slot: ActivitySlot) {
        for index in activities[slot].destinations {
            guard let destination = destinations.at(index), destination.final == nil else {
                continue
            }
            destinations[index].nextFinal = activities[slot].accepted
            // The next start may use another route, which must not start this card.
            if activities[slot].definition.route == .adopt, destination.phase == .waiting {
                destinations[index].phase = .started
            }
            destinations[index][.checkpointIsDirty] = true
            journal.checkpoint(index)
        }
    }

    private mutating func admitChange(
        _ command: Command, isRated: Bool, now: Instant
    ) throws(Refusal) -> Admission {
        guard let slot = activities.slot(of: command.activity) else {
            if let refusal = activities.refusal(of: command.activity) { throw refusal }
            throw Refusal(
                .unknownActivity,
                "no activity \"\(command.activity.id)\"; "
                    + command.activity.id.wayToStart)
        }
        noteWork(on: activities[slot].number)
        let version = activities[slot].accepted.version
        try command.expectation.check(version)
        if command.expectation == .absent {
            throw Refusal(.preconditionFailed, "the activity is there already", version: version)
        }
        if activities[slot].hasEnded {
            if case .end = command.content { return .standing(slot) }
            throw Refusal(
                .activityEnded,
                "the activity has ended; start it again with PUT and ?restart=true",
                version: version)
        }
        let change = try judge(command, at: slot, now: now)
        if isRated, change.projection.ending != nil {
            let cards = activities[slot].destinations.count { !destinations[$0].isFinished }
            try keys.rates.spend(cards, by: command.key, configuration.limits, now: now)
        }
        activities[slot].accepted = change.projection
        if change.projection.ending != nil { activities.recount(slot) }
        return .pending(
            addEvent(change.command, slot, change.projection, plan: change.plan, now: now))
    }

    /// A valid change: the completed command, and the new state of its activity.
    private struct Change {
        var command: Command
        var projection: Projection
        var plan: (Clip, Int)?
    }

    /// Checks a change. It does not mutate the core, so that the activity is not copied.
    private func judge(
        _ command: Command, at slot: ActivitySlot, now: Instant
    ) throws(Refusal) -> Change {
        var plan: (Clip, Int)?
        switch command.content {
        case .play(let clip):
            plan = try PushSize.examined(clip, on: activities[slot], wall: wall(now))
        case .stop(let name):
            guard let clip = activities[slot].accepted.clip, name == nil || name == clip.name else {
                throw Refusal(
                    .unknownClip,
                    "no such clip is playing; GET /v1/activities/"
                        + "\(command.activity.id) tells which is")
            }
        case .start, .update, .end: break
        }
        // One reference, so that the definition is not copied.
        let definition = activities[slot].definitionBox
        let type = types.type(of: definition.value, command.activity.tenant)
        let command = command.completed(by: type)
        var projection = activities[slot].accepted
        projection.apply(command.content, version: projection.version + 1, at: wall(now))
        try PushSize.check(
            type?.widened(projection) ?? projection, definition.value,
            alert: command.content.alert, history: command.content.history)
        try checkState(projection, definition.value, command.content, command.activity.tenant)
        return Change(command: command, projection: projection, plan: plan)
    }

    private mutating func addEvent(
        _ command: Command, _ slot: ActivitySlot, _ projection: Projection,
        definition: Activity.Definition? = nil, plan: (Clip, Int)? = nil, now: Instant
    ) -> Int {
        let lint = commandLints(command.content, activities[slot], now: now)
        var weight =
            activities[slot].destinations.count
            + timelines.slots(from: command.activity).count
        let event = NewEvent(
            tenant: command.activity.tenant, activity: activities[slot].number,
            expectedVersion: projection.version - 1, kind: command.content.kind,
            recordedAt: wall(now), body: command.body, idempotency: command.idempotency,
            key: command.key)
        if let key = command.idempotency { idempotency.run(command.activity.tenant, key.key) }
        if let definition {
            let tenant = command.activity.tenant
            let cards = devices.cards(of: definition.audience, tenant)
            audiences.noteComing(1, definition.audience, cards: cards, of: tenant)
            weight += cards
        }
        if let alert = projection.alert, alert.version == projection.version {
            activities[slot].comingAlerts.append(alert)
        }
        activities[slot].note(command.trace, of: projection.version)
        counters[command.activity.tenant].eventsAccepted += 1
        return journal.append(
            .init(
                event: event, activity: slot, incarnation: activities[slot].incarnation,
                projection: projection, content: command.content, definition: definition,
                plan: plan.map { (clip: $0.0, payloadBytes: $0.1) }, weight: max(1, weight),
                lint: lint))
    }

    private mutating func newActivity(
        _ key: ActivityKey, _ definition: Activity.Definition, _ projection: Projection
    ) -> ActivitySlot {
        let number = activities.takeNumber()
        return activities.insert(Activity(key: key, number: number, definition, projection))
    }

    /// Answers a command that changes nothing, when the activity's present state is durable.
    mutating func stand(
        _ slot: ActivitySlot, _ kind: EventKind, _ ticket: Ticket, now: Instant
    ) {
        let activity = activities[slot]
        if activity.durable?.version == activity.accepted.version {
            journal.answerNow(
                ticket, .accepted(accepted(slot, kind, changed: false, now: now)))
        } else {
            journal.answer(.standing(activity: slot, kind, ticket))
        }
    }
}

extension Activity.Definition {
    /// What a start says, then what its type says, then the default.
    fileprivate init(
        _ start: Start, _ type: ActivityType?, app: String, attributes: JSON, startedAt: Instant,
        digest: UInt64
    ) {
        self.init(
            type: start.type, app: app, audience: start.audience, route: start.route,
            attributes: attributes,
            onUnknownStart: start.onUnknownStart ?? type?.onUnknownStart ?? .giveUp,
            startWait: start.startWait ?? type?.startWait ?? Start.startWaitDefault,
            endAfter: start.endAfter ?? type?.endAfter,
            onTokenGone: start.onTokenGone ?? type?.onTokenGone ?? .stop,
            renew: start.renew ?? type?.renew ?? .never, startedAt: startedAt,
            framesShowWhen: start.framesShowWhen ?? type?.framesShowWhen ?? .background,
            digest: digest)
    }
}
