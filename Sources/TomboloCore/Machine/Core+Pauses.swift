import TomboloJSON

// An operator's pauses (pacing rule 16): durable, and looked at whenever something would go out.

extension Core {
    /// Takes a pause, which holds from now on, or takes one back.
    mutating func take(
        _ command: PauseCommand, of tenant: TenantID, by key: AskingKey, _ ticket: Ticket,
        now: Instant, effects: inout Effects
    ) {
        var pause: Pause
        do throws(Refusal) {
            pause = try self.pause(of: command, tenant, now: now)
        } catch {
            effects.answers.append((ticket, .refused(error)))
            return
        }
        let number = pause.number
        switch command {
        case .pause:
            pause.key = key
            nextPauseNumber += 1
            serials[tenant].pauses = pause.serial
            pauses[number] = pause
            store(number, pause.encoded(), Stored(.created, number: number), ticket)
        case .resume:
            pauses[number] = nil
            store(number, endedRecord(of: pause), Stored(.deleted, number: number), ticket)
        }
        notePause(pause, began: pauses[pause.number] != nil, by: key, now: now)
        // A card that is held, or held no more, says so; on resume only the newest state goes.
        sweeps.add(.pause(pause), now: now)
    }

    /// Does one piece of the sweep that is under way.
    mutating func sweep(now: Instant, effects: inout Effects) {
        guard let (work, first) = sweeps.current(now: now) else { return }
        let count: Int
        switch work {
        case .pause: count = destinations.indices.count
        case .grants: count = devices.count
        }
        var (place, works) = (first, 0)
        let end = min(count, first + Sweeps.placesMax)
        while place < end, works < Sweeps.worksMax,
            effects.pushes.count < Self.pushesPerTurnMax
        {
            switch work {
            case .pause(let pause):
                if pause.map({ holds($0, place) }) ?? destinations.holds(place) {
                    evaluate(place, now: now, effects: &effects)
                    works += 1
                }
            case .grants:
                adoptGrants(of: place, now: now)
                works += 1
            }
            place += 1
        }
        sweeps.advance(to: place < count ? place : nil, now: now)
    }

    /// The pause that would begin, or the one that would be over.
    func pause(
        of command: PauseCommand, _ tenant: TenantID, now: Instant
    ) throws(Refusal) -> Pause {
        switch command {
        case .pause(let request):
            let own = pauses.values.filter { $0.tenant == tenant }
            // Everything can be held, however much is held in part.
            let isFirstOfAll =
                request.scope == .all
                && !own.contains { $0.scope == .all && $0.alertsOnly == request.alertsOnly }
            guard own.count < Pause.countMax || isFirstOfAll else {
                throw Refusal(
                    .limitReached,
                    "\(own.count) pauses are in force, as many as there may be; resume some first")
            }
            return Pause(
                number: nextPauseNumber, serial: serials[tenant].pauses + 1, tenant: tenant,
                scope: request.scope,
                alertsOnly: request.alertsOnly, reason: request.reason, since: wall(now))
        case .resume(let serial):
            let known = pauses.values.first { $0.tenant == tenant && $0.serial == serial }
            guard let known else { throw Self.unknownPause(serial) }
            return known
        }
    }

    private mutating func store(
        _ number: Int64, _ value: [UInt8]?, _ stored: Stored, _ ticket: Ticket
    ) {
        staged.records.append(Record(space: .pause, number: number, value: value))
        staged.stored.append((ticket, stored))
    }

    private static func unknownPause(_ serial: Int64) -> Refusal {
        Refusal(
            .unknownPause, "no pause \"pause_\(serial)\"; GET /v1/pauses lists those in force")
    }

    /// What is left of a pause that is over: of a tenant's newest one its serial, which no later
    /// one gets, also after a restart. The one before it goes.
    private mutating func endedRecord(of pause: Pause) -> [UInt8]? {
        guard pause.serial == serials[pause.tenant].pauses else { return nil }
        if let former = serials[pause.tenant].endedPause {
            staged.records.append(Record(space: .pause, number: former, value: nil))
        }
        serials[pause.tenant].endedPause = pause.number
        return pause.ended()
    }

    private mutating func notePause(
        _ pause: Pause, began: Bool, by key: AskingKey, now: Instant
    ) {
        var writer = JSONWriter()
        // By it the fact is found when the activity is erased.
        var activity: ActivityNumber?
        writer.beginObject()
        writer.member("pause", pause.name)
        switch pause.scope {
        case .all: break
        case .app(let app): writer.member("app", app)
        case .type(let type): writer.member("type", type)
        case .activity(let id):
            writer.member("activity", id.rawValue)
            let key = ActivityKey(tenant: pause.tenant, id: id)
            activity = activityByKey[key].map { activities[$0].number }
        }
        if pause.alertsOnly { writer.member("alerts_only", true) }
        if let reason = pause.reason { writer.member("reason", reason) }
        writer.member("by", key.id)
        writer.endObject()
        note(
            pause.tenant, activity, began ? "pause.began" : "pause.ended", writer.bytes, now: now)
    }

    /// Takes over a record of the last relay. Answers what is wrong with it.
    mutating func adoptPause(_ record: Record) -> [String] {
        nextPauseNumber = max(nextPauseNumber, record.number + 1)
        guard let value = record.value else { return [] }
        if let (tenant, serial) = Pause.ended(record: value) {
            serials[tenant].pauses = max(serials[tenant].pauses, serial)
            serials[tenant].endedPause = record.number
            return []
        }
        guard let pause = Pause(record: value, number: record.number) else {
            return ["the record of pause number \(record.number) cannot be read"]
        }
        pauses[pause.number] = pause
        serials[pause.tenant].pauses = max(serials[pause.tenant].pauses, pause.serial)
        return []
    }

    /// Whether an operator holds back everything that goes to a destination.
    func isPaused(_ slot: Int) -> Bool {
        !pauses.isEmpty && pauses.values.contains { !$0.alertsOnly && holds($0, slot) }
    }

    /// Whether alerts wait there: then starts do too.
    func areAlertsPaused(_ slot: Int) -> Bool {
        !pauses.isEmpty && pauses.values.contains { holds($0, slot) }
    }

    private func holds(_ pause: Pause, _ slot: Int) -> Bool {
        destinations.holds(slot) && holds(pause, activities[destinations[slot].activity])
    }

    /// Whether a pause is about an activity.
    func holds(_ pause: Pause, _ activity: Activity) -> Bool {
        guard activity.key.tenant == pause.tenant else { return false }
        switch pause.scope {
        case .all: return true
        case .app(let app): return activity.definition.app == app
        case .type(let type): return isSameText(activity.definition.type, type)
        case .activity(let id): return activity.key.id == id
        }
    }

    /// A tenant's pauses in force, oldest first.
    package func pauses(of tenant: TenantID) -> [Pause] {
        pauses.values.filter { $0.tenant == tenant }.sorted { $0.number < $1.number }
    }

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
