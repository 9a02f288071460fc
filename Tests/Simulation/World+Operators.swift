import TestSupport
import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloLoop
import TomboloRelay

/// A pause that holds for sure: it was answered for, and nobody has asked to end it.
struct HeldPause {
    var number: Int64
    var tenant: TenantID
    var scope: Pause.Scope
    var alertsOnly: Bool

    var name: String { "\(tenant) \(number)" }

    /// Whether it holds what goes to an activity.
    func holds(_ tenant: TenantID, _ activity: String) -> Bool {
        guard tenant == self.tenant else { return false }
        return switch scope {
        case .all: true
        case .app(let app): app == World.appID
        case .type(let type): type == Plan.type(of: activity)
        case .activity(let id): id.rawValue == activity
        }
    }
}

// What operators, time servers and the machine do.

extension World {
    /// Crashes, stops, clocks and people, until the heal.
    func operate() async {
        while !isHealed {
            await pause(dice.time(.machine, 200...120_000))
            if isHealed || isOver { return }
            if strikes(.crashes, .machine, oneIn: 2) { crash() }
            if strikes(.wallSteps, .machine, oneIn: 2) { await stepWall() }
            troubleClocks()
            troubleDisk()
            if strikes(.orderlyRestarts, .machine, oneIn: 4), let relay = life?.relay {
                note(.orderlyStop, who: -1)
                await relay.finish()
            }
            if strikes(.restores, .machine, oneIn: 4) { backUpOrRestore() }
            guard let life, life.isReady, let relay = life.relay else { continue }
            if strikes(.pauses, .operators, oneIn: 3) { await pauseSomething(relay, life) }
            if strikes(.types, .operators, oneIn: 3) { await registerType(relay, life) }
            if strikes(.retries, .operators, oneIn: 3) {
                let tenant = dice.pick(.operators, plan.tenants)
                _ = await relay.retry(DeadLetterQuery(tenant: tenant))
            }
        }
    }

    /// Somebody sets the wall clock, now and then in the midst of changes that use budgets up.
    private func stepWall() async {
        let isMidst = dice.happens(.machine, oneIn: 3)
        if isMidst { await Producer(self, dice.pick(.machine, plan.tenants), 96).press() }
        guard !isHealed else { return }
        let offset = dice.pick(
            .machine, [-3_600, -90, -5, 0, 5, 90, 1_200, 3_600, 7_200, 172_800, 34_560_000])
        clock.step(to: .seconds(Int64(offset)))
        note(.wallStep, who: -1, Int64(offset))
        // Who sets a clock may start the relay again.
        if isMidst || dice.happens(.machine, oneIn: 4) { crash() }
        if isMidst { await Producer(self, dice.pick(.machine, plan.tenants), 96).press() }
    }

    private func troubleClocks() {
        if strikes(.reboots, .machine, oneIn: 4) {
            note(.reboot, who: -1)
            clock.reboot()
            // Nobody knows how much later than its last reading the clock was told.
            trouble(for: .nanoseconds(RelayClock.reach.nanoseconds) + .seconds(2))
            crash()
        }
        // All together much less than a card's life.
        if clock.slept < .seconds(4_000), strikes(.suspends, .machine, oneIn: 6) {
            let seconds = dice.roll(.machine, 1...2_000)
            note(.sleep, who: -1, Int64(seconds))
            clock.sleep(.seconds(Int64(seconds)))
        }
    }

    // MARK: The disk

    private func troubleDisk() {
        guard !isDiskFull, strikes(.fullDisk, .machine, oneIn: 3) else { return }
        isDiskFull = true
        if loop.now - roomSince >= Self.recordingMax { fullSince = loop.now }
        note(.full, who: -1, 1)
        after(dice.time(.machine, 100...100_000)) { [self] in
            isDiskFull = false
            roomSince = loop.now
            trouble()
            note(.full, who: -1, 0)
        }
    }

    /// What is answered is on record so much later, where the log has room.
    private static let recordingMax = Duration.seconds(10)

    /// Whether what was answered then may not be on record: a full log takes nothing for as long as
    /// it lasts, and a commit that fails may have been under way for long.
    func isUnrecorded(_ answeredAt: MonotonicInstant) -> Bool {
        let hasHadRoom = !isDiskFull && loop.now - roomSince >= Self.recordingMax
        let recorded = min(hasHadRoom ? loop.now : fullSince, durableAt)
        return recorded - answeredAt < Self.recordingMax
    }

    private func backUpOrRestore() {
        guard let copy = storage.copy(), let life, life.isReady else { return }
        guard backup != nil else {
            backup = copy
            return
        }
        note(.restore, who: -1)
        isRestoring = true
        crash()
    }

    /// The log is as it was when it was copied: all that came since is gone from it.
    func restoreIfAsked() {
        guard isRestoring, let copy = backup?.copy() else { return }
        storage = copy
        restoredAt = clock.now()
    }

    /// What follows from a restored log for what the world believes.
    func forgetGap(_ recovered: RecoveredLog) {
        isRestoring = false
        ledger.forget(after: recovered.lastSeq)
        let known = Set(recovered.records.compactMap(DeviceKey.init(record:)))
        pauses = []
        surelyReloading = []
        for book in reloadBooks {
            book.sent.cuts.append(loop.now)
            book.owedSince = nil
            book.changedAt = nil
            book.isRegistered = false
            book.known = nil
        }
        // What the gap had on record is on record no more.
        retiredTokens = []
        for phone in phones where phone.wasDeleted {
            for card in phone.cards.values { card.isUnnamed = true }
        }
        for (key, outbox) in outboxes {
            outbox.cuts.append(loop.now)
            outbox.floor = 0
            let phone = key.phone >= 0 ? phones[key.phone] : nil
            // Nobody knows that this device was ever there.
            if let phone, !known.contains(phone.key) { outbox.isUnsure = true }
            for index in outbox.sends.indices
            where reference.origins[outbox.sends[index].mark] == nil {
                if phone != nil, outbox.sends[index].event == .start { outbox.isUnsure = true }
                // Its producer may ask once more for what is gone.
                if let alert = outbox.sends[index].alert {
                    outbox.sends[index].alert = nil
                    phone?.cards[key.reference]?.alerts[alert] = nil
                }
            }
        }
        for channel in apple.channels.values {
            // It carries what the relay does not know of any more: cards may listen on for hours.
            if let carried = channel.carries, !isKnown(channel, carried.activity, recovered) {
                channel.carries = (ActivityNumber(-1), 0)
            }
        }
        for phone in phones {
            phone.users = phone.usersEver
            // Any of them may be the one that is back; the app asks for its last again.
            let last = phone.timeline?.latest
            for budgetClass in BudgetClass.allCases
            where phone.timeline?.all.contains(budgetClass) == true && budgetClass != last {
                phone.timeline?.ask(budgetClass, at: loop.now)
            }
            if let last { phone.timeline?.ask(last, at: loop.now) }
            strand(phone)
            equip(phone)
            for card in phone.sortedCards where !card.isDismissed { registerToken(of: card, phone) }
        }
    }

    private func isKnown(
        _ channel: Broadcast, _ activity: ActivityNumber, _ recovered: RecoveredLog
    ) -> Bool {
        recovered.records.contains { record in
            guard record.space == .channel, let value = record.value else { return false }
            let view = JSON(unchecked: value).document.root
            return view["id"]?.string == channel.id
                && view["activity"]?.integer == activity.rawValue
        }
    }

    private func strand(_ phone: Phone) {
        for card in phone.sortedCards {
            card.isRegistered = false
            let model = reference.model(tenant: phone.tenant, id: card.reference.id.rawValue)?.1
            let isKnown = model.map { $0.incarnation >= card.reference.incarnation } ?? false
            // Its end may still be on its way.
            let sent = outboxes[key(phone, card.reference)]
            let isOver = (card.hasEnded || sent?.hasEnded == true) && model?.hasEnded != true
            let isUnheard =
                card.channel.map { apple.channels[$0]?.carries?.activity == ActivityNumber(-1) }
                ?? false
            if !isKnown || isOver || isUnheard { card.isStranded = true }
        }
    }

    // MARK: Pauses

    private func pauseSomething(_ relay: Relay, _ life: Life) async {
        if let held = pauses.last, dice.happens(.operators, oneIn: 2) {
            await resume(held.number, held.tenant, relay)
            return
        }
        let tenant = dice.pick(.operators, plan.tenants)
        let scope = dice.pick(
            .operators,
            [
                "\"all\":true", "\"app\":\"\(Self.appID)\"", "\"type\":\"Runner\"",
                "\"activity\":\"act-1\"",
            ])
        let isForAlerts = dice.happens(.operators, oneIn: 3)
        guard
            // The simulation writes what it reads.
            let request = try? PauseRequest(
                reading: Self.json("{\(scope),\"alerts_only\":\(isForAlerts)}"))
        else { preconditionFailure(scope) }  // our own text
        let answer = await seam.pause(request, of: tenant, relay)
        guard !life.isDead, case .stored(let stored) = answer, let number = stored.number else {
            return
        }
        note(.pause, who: -1, number, 0, "\(request.scope) of \(tenant)")
        let held = HeldPause(
            number: number, tenant: tenant, scope: request.scope, alertsOnly: isForAlerts)
        // On a slow disk somebody may have ended it before its own answer came.
        if !endedPauses.contains(held.name) { pauses.append(held) }
    }

    private func resume(_ number: Int64, _ tenant: TenantID, _ relay: Relay) async {
        pauses.removeAll { $0.number == number && $0.tenant == tenant }
        endedPauses.insert("\(tenant) \(number)")
        trouble()
        note(.resume, who: -1, number)
        await seam.resume(number, of: tenant, relay)
        trouble()
    }

    /// After the heal nothing is held back by anybody.
    func resumeEverything() async {
        for tenant in plan.tenants {
            for _ in 0..<2_000 {
                guard let relay = life?.relay, life?.isReady == true, await relay.isReady
                else {
                    await pause(.milliseconds(300))
                    continue
                }
                guard let held = await relay.pauses(of: tenant).first else { break }
                await resume(held.number, tenant, relay)
                await pause(.milliseconds(10))
            }
        }
    }

    // MARK: Types

    private func registerType(_ relay: Relay, _ life: Life) async {
        let tenant = dice.pick(.operators, plan.tenants)
        let name = dice.pick(.operators, Plan.types)
        let budgetClass = dice.pick(.operators, [BudgetClass.standard, .frequent, .lab])
        let policy = dice.pick(.operators, ["", ",\"on_unknown_start\":\"resend\""])
        var text = "{\"budget_class\":\"\(budgetClass.name)\"\(policy)"
        let reloads = strikes(.reloads, .reloads, oneIn: 2)
        if reloads {
            text += ",\"reloads\":{\"widgets\":true,\"controls\":[\"lock\"]}"
            reloadingTypes += 1
        }
        if strikes(.bundles, .bundles, oneIn: 2) { text += ",\"plays\":true,\"animates\":true" }
        text += "}"
        // The simulation writes what it reads.
        guard let type = try? ActivityType(reading: Self.json(text)) else {
            preconditionFailure(text)  // our own text
        }
        let key = ActivityType.Key(tenant: tenant, app: Self.appID, name: name)
        typeTimelines[key, default: GrantTimeline(.standard)].ask(budgetClass, at: loop.now)
        surelyReloading.remove(key)
        excuseLateChanges(of: tenant)
        let answer = await relay.storeType(type, named: name, app: nil, tenant: tenant)
        guard !life.isDead, case .stored = answer else { return }
        note(.type, who: -1, 0, 0, "\(name) of \(tenant): \(text)")
        typeTimelines[key]?.confirm(at: loop.now)
        if reloads { surelyReloading.insert(key) }
    }

    /// The classes of what goes to a phone's card.
    func timeline(_ phone: Phone, _ type: String) -> GrantTimeline {
        let key = ActivityType.Key(tenant: phone.tenant, app: Self.appID, name: type)
        return phone.timeline ?? typeTimelines[key] ?? GrantTimeline(.standard)
    }
}

extension DeviceKey {
    /// Whose record it is; nil for another record.
    init?(record: Record) {
        guard record.space == .device,
            let view = record.value.map({ JSON(unchecked: $0).document.root }),
            let tenant = view["tenant"]?.string, let id = view["id"]?.string
        else { return nil }
        self.init(tenant: TenantID(Plan.identifier(tenant)), id: Plan.identifier(id))
    }
}
