import TomboloJSON

// Operators' pauses (pacing rule 16). A pause is durable, and is checked before each push.

extension Core {
    mutating func takePauseCommand(
        _ command: PauseCommand, of tenant: TenantID, by key: AskingKey, _ ticket: Ticket,
        now: Instant
    ) {
        var pause: Pause
        do throws(Refusal) {
            pause = try pauses.pause(of: command, tenant, since: wall(now))
        } catch {
            journal.answerNow(ticket, .refused(error))
            return
        }
        let number = pause.number
        switch command {
        case .pause:
            pause.key = key
            journal.write(pauses.begin(pause))
            journal.answer(ticket, Stored(.created, number: number))
            notePause(pause, began: true, by: key, now: now)
        case .resume:
            journal.write(pauses.end(pause))
            journal.answer(ticket, Stored(.deleted, number: number))
            notePause(pause, began: false, by: key, now: now)
        }
        // Update the wait reasons of the affected cards. After a pause only the newest state is
        // sent.
        sweeps.add(.pause(pause), now: now)
    }

    /// Does the next piece of the sweep in progress.
    mutating func sweep(now: Instant, _ budget: inout StepBudget.Part) {
        guard let (work, first) = sweeps.current(now: now) else { return }
        let cards = destinations.indices.count
        let count =
            switch work {
            case .pause: cards + surfaces.count
            case .grants: devices.count
            case .clock: cards
            }
        var place = first
        while place < count, !budget.isSpent {
            budget.take(StepBudget.Cost.place)
            switch work {
            case .pause(let pause) where place < cards:
                let slot = CardSlot(place)
                if pause.map({ holds($0, slot) }) ?? destinations.holds(slot) {
                    destinations.wake(slot, now: now)
                    budget.take(StepBudget.Cost.look)
                }
            case .pause(let pause):
                let slot = SurfaceSlot(place - cards)
                if surfaces[slot].isWaiting, let device = devices[surfaces[slot].device],
                    pause.map({ holds($0, device) }) ?? true
                {
                    surfaces.wake(slot, now: now)
                    budget.take(StepBudget.Cost.look)
                }
            case .grants:
                adoptGrants(of: Slot(place), now: now)
                budget.take(StepBudget.Cost.look)
            case .clock:
                budget.take(StepBudget.Cost.row)
                correct(CardSlot(place), now: now)
            }
            place += 1
        }
        sweeps.advance(to: place < count ? place : nil, now: now)
    }

    private mutating func notePause(
        _ pause: Pause, began: Bool, by key: AskingKey, now: Instant
    ) {
        var writer = JSONWriter()
        // The fact belongs to the activity, so that an erasure of the activity finds it.
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
            activity = activities.slot(of: key).map { activities[$0].number }
        }
        if pause.alertsOnly { writer.member("alerts_only", true) }
        if let reason = pause.reason { writer.member("reason", reason) }
        writer.member("by", key.id)
        writer.endObject()
        note(
            pause.tenant, activity, began ? "pause.began" : "pause.ended", writer.bytes, now: now)
    }

    /// True if a pause holds back all pushes to a destination.
    func isPaused(_ slot: CardSlot) -> Bool {
        !pauses.isEmpty && pauses.contains { !$0.alertsOnly && holds($0, slot) }
    }

    /// True if a pause holds back alerts, and therefore starts, to a destination.
    func areAlertsPaused(_ slot: CardSlot) -> Bool {
        !pauses.isEmpty && pauses.contains { holds($0, slot) }
    }

    private func holds(_ pause: Pause, _ slot: CardSlot) -> Bool {
        destinations.holds(slot) && pause.holds(activities[destinations[slot].activity])
    }

    /// True if a pause holds back reloads on a device.
    func isReloadPaused(_ device: Device) -> Bool {
        pauses.contains { !$0.alertsOnly && holds($0, device) }
    }

    private func holds(_ pause: Pause, _ device: Device) -> Bool {
        let app = device.registration.app ?? configuration.onlyApp(of: device.key.tenant)
        return pause.holds(app: app, of: device.key.tenant)
    }

    /// A tenant's active pauses, oldest first.
    package func pauses(of tenant: TenantID) -> [Pause] {
        pauses.pauses(of: tenant)
    }

    /// Why a pause would hold nothing back, for example because of a misspelt name; nil if it
    /// would. The operator would wrongly believe that pushes wait.
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
            guard !types.keys(of: tenant).contains(where: { isSameText($0.name, type) }),
                !activities.indices.contains(where: {
                    activities[$0].key.tenant == tenant
                        && isSameText(activities[$0].definition.type, type)
                        && activities.slot(of: activities[$0].key) == $0
                })
            else { return nil }
            return Refusal(
                .unknownType,
                "no type \"\(type)\" is registered, and no activity is of it: the pause would "
                    + "hold nothing")
        case .activity(let id):
            guard activities.slot(of: ActivityKey(tenant: tenant, id: id)) == nil else {
                return nil
            }
            return Refusal(
                .unknownActivity, "no activity \"\(id)\": the pause would hold nothing")
        }
    }
}
