import TestSupport
import TomboloCore
import TomboloLoop
import TomboloRelay

// Reloads: producers and types want widgets and controls to ask for what is new.

extension World {
    // MARK: Phones

    /// The app's widgets and its control get tokens.
    func equipSurfaces(_ phone: Phone) {
        guard faults.contains(FaultSet(.reloads)), phone.surfaces.isEmpty else { return }
        phone.surfaces = ReloadBook.names
            // Controls came with iOS 18.
            .filter { $0 == .widget || !phone.system.hasPrefix("17") }
            .map { ReloadBook($0, phone) }
        reloadBooks += phone.surfaces
        for book in phone.surfaces { issueSurfaceToken(book) }
    }

    func dropSurfaces(_ phone: Phone, at instant: Instant) {
        for book in phone.surfaces { book.token.map { surfaceIsGone($0, at: instant) } }
        phone.surfaces = []
    }

    private func surfaceIsGone(_ token: String, at instant: Instant) {
        apple.surfaceTokens[token]?.goneSince = instant
    }

    private func issueSurfaceToken(_ book: ReloadBook) {
        let token = newToken()
        if let old = book.token { surfaceIsGone(old, at: clock.trueNow()) }
        book.token = token
        book.isTold = false
        book.isRegistered = false
        apple.surfaceTokens[token] = SurfaceToken(book)
        note(.token, who: book.phone.number, 0, 0, "\(token) for \(book.name.text)")
        if strikes(.missingTokens, .reloads, oneIn: 6) { return }
        let isLate = strikes(.lateTokens, .reloads, oneIn: 2)
        after(dice.time(.reloads, isLate ? 3_000...400_000 : 0...20_000)) { [self] in
            guard book.isThere, book.token == token else { return }
            book.isTold = true
            registerToken(of: book)
        }
    }

    /// Once more, where the app has told of it before.
    func registerToken(of book: ReloadBook) {
        guard let token = book.token, book.isTold else { return }
        book.phone.upload(
            Phone.Upload(
                command: putToken(book.name, token, book.phone), isRetried: true, token: token,
                surface: book))
    }

    /// The relay has stored a surface's token.
    func surfaceIsStored(_ book: ReloadBook, _ token: String?) {
        guard let token else { return }
        apple.surfaceTokens[token]?.registeredAt = clock.trueNow()
        book.known = token
        if book.token == token { book.isRegistered = true }
    }

    /// Tokens change now and then, until the heal.
    func troubleSurfaces() {
        guard !isHealed, faults.contains(FaultSet(.reloads)) else { return }
        let phone = dice.pick(.reloads, phones)
        if !phone.surfaces.isEmpty, strikes(.rotation, .reloads, oneIn: 3) {
            issueSurfaceToken(dice.pick(.reloads, phone.surfaces))
        }
        after(dice.time(.reloads, 1_000...240_000)) { [self] in troubleSurfaces() }
    }

    // MARK: Wishes

    /// Producers want reloads, some of them many at once, until the heal.
    func wantReloads() async {
        guard faults.contains(FaultSet(.reloads)), !plan.onlyChangesReload else { return }
        let gap = Int(plan.chaos.components.seconds) * 1_000 / 15
        while !isHealed, !isOver {
            await pause(dice.time(.reloads, 1...2 * gap))
            let count = dice.happens(.reloads, oneIn: 3) ? dice.roll(.reloads, 2...9) : 1
            let (tenant, control) = (
                dice.pick(.reloads, plan.tenants), dice.happens(.reloads, oneIn: 2)
            )
            for _ in 0..<count where !isHealed {
                _ = await wantReload(of: control ? "lock" : nil, tenant, devices: nil)
                await pause(dice.time(.reloads, 1...8_000))
            }
        }
    }

    /// After the heal everything is to ask once more.
    func wantEverythingReloaded() async {
        guard faults.contains(FaultSet(.reloads)), !plan.onlyChangesReload else { return }
        // Some tokens change just then.
        for phone in phones where faults.contains(FaultSet(.rotation)) {
            for book in phone.surfaces where dice.happens(.reloads, oneIn: 2) {
                issueSurfaceToken(book)
            }
        }
        for tenant in plan.tenants {
            let ids = phones.filter { $0.tenant == tenant }.map(\.id.rawValue)
            for control in [nil, "lock"] as [String?] {
                for _ in 0..<2_000 {
                    if await wantReload(of: control, tenant, devices: ids) { break }
                    await pause(.milliseconds(300))
                }
            }
        }
    }

    /// - Parameter devices: nil: whoever the dice say.
    /// - Returns: whether the relay has taken it.
    private func wantReload(
        of control: String?, _ tenant: TenantID, devices: [String]?
    ) async -> Bool {
        let user: String? =
            devices == nil && dice.happens(.reloads, oneIn: 2)
            ? dice.pick(.reloads, ["ann", "bob"]) : nil
        let ids = devices ?? dice.pick(.reloads, [["phone-0"], ["phone-0", "phone-1", "phone-2"]])
        let who =
            user.map { "\"user\":\"\($0)\"" }
            ?? "\"devices\":[" + ids.map { "\"\($0)\"" }.joined(separator: ",") + "]"
        // The simulation writes what it reads.
        guard let request = try? ReloadRequest(reading: Self.json("{\(who)}"), control: control)
        else { preconditionFailure(who) }  // our own text
        guard let life, life.isReady, let relay = life.relay else { return false }
        let asked = loop.now
        let books = reloadBooks.filter { book in
            book.phone.tenant == tenant
                && book.name == control.map { .control(kind: $0) } ?? .widget
                && (user.map { book.phone.users.contains($0) }
                    ?? ids.contains(book.phone.id.rawValue))
        }
        for book in books { book.wantedAt = asked }
        let owed = books.filter { $0.isThere && $0.known != nil && $0.phone.users.count == 1 }
        note(.command, who: -1, 0, 0, "reload of \(control ?? "widgets") for \(who) of \(tenant)")
        let answer = await relay.reload(request, of: tenant)
        note(.answer, who: -1, 0, 0, "\(answer)")
        guard !life.isDead, case .stored(let stored) = answer else { return false }
        let mine = phones.count { $0.tenant == tenant }
        if stored.count > mine {
            violated(.tenants, "\(stored.count) reloads, and \(mine) phones of \(tenant)")
        }
        // What a device wants goes with it, also before anybody hears that it was taken.
        for book in owed where book.isThere && book.known != nil { book.owedSince = asked }
        return true
    }

    // MARK: Changes

    /// A change of an activity that has become durable is a wish too, where its type says so.
    ///
    /// - Returns: whether some surface is certainly owed a reload after it.
    @discardableResult
    func wantReloads(after event: NewEvent) -> Bool {
        guard reloadingTypes > 0, let model = reference.models[event.activity] else { return false }
        if event.kind == .start { excuseFormerAudience(of: event.activity, model) }
        let isOwed = surelyReloads(event, model)
        var owesSome = false
        for book in reloadBooks where book.phone.tenant == event.tenant {
            if model.isFor(book.phone) { book.wantedAt = loop.now }
            guard isOwed, book.isThere, book.known != nil, isSurelyFor(book.phone, model) else {
                continue
            }
            book.changedAt = loop.now
            owesSome = true
        }
        return owesSome
    }

    /// Now and then the power goes between a commit and the wishes that it owes: these are on
    /// record some milliseconds later.
    func crashBeforeReloads() {
        guard strikes(.crashes, .debts, oneIn: 3) else { return }
        after(dice.time(.debts, 0...6)) { [self] in crash() }
    }

    /// Whether an event shows something else than before, and its type has surfaces reload then.
    /// None counts after the heal: there is not always time for it.
    private func surelyReloads(_ event: NewEvent, _ model: Reference.Model) -> Bool {
        let key = ActivityType.Key(
            tenant: event.tenant, app: Self.appID, name: Plan.type(of: model.id))
        guard !isHealed, surelyReloading.contains(key) else { return false }
        switch event.kind {
        case .start, .end: return true
        // Older than the state that is shown, it changes nothing.
        case .update: return reference.origins[model.mark]?.version == model.version
        case .play, .stop: return false
        }
    }

    /// Whether an activity is for a phone by all that the relay may have on record.
    private func isSurelyFor(_ phone: Phone, _ model: Reference.Model) -> Bool {
        guard phone.users.count == 1, phone.ids.count == 1 else { return false }
        return model.isFor(phone)
    }

    /// An activity that begins again may be for others: its last changes go to these alone.
    private func excuseFormerAudience(of activity: ActivityNumber, _ model: Reference.Model) {
        let former = Reference.Incarnation(activity: activity, number: model.incarnation - 1)
        guard let audience = reference.audiences[former] else { return }
        for book in reloadBooks
        where book.phone.tenant == model.tenant && audience.isFor(book.phone) {
            book.changedAt = nil
        }
    }

    /// A type is about to change: what a commit of this moment owes is looked up when the relay
    /// learns of it, on a slow disk seconds later.
    func excuseLateChanges(of tenant: TenantID) {
        for book in reloadBooks where book.phone.tenant == tenant {
            guard let changedAt = book.changedAt, loop.now - changedAt < .seconds(10) else {
                continue
            }
            book.changedAt = nil
        }
    }

    // MARK: Checks

    /// Apple tells by its own clock since when a token is gone.
    var clocksAgree: Bool {
        faults.isDisjoint(with: [
            FaultSet(.wallSteps), FaultSet(.suspends), FaultSet(.wrongClock),
        ])
    }

    /// Looks at a reload as it is handed over.
    func checkReload(_ push: Push, _ token: SurfaceToken, _ life: Life) {
        let book = token.book
        func check(_ holds: Bool, _ promise: Promise, _ detail: @autoclosure () -> String) {
            guard !holds else { return }
            violated(promise, "phone \(book.phone.number) \(book.name.text): \(detail())")
        }
        let tenant = plan.configuration.apps[Int(push.upstream.rawValue)].tenant
        check(tenant == book.phone.tenant, .tenants, "in the upstream of \(tenant)")
        // Its tokens may be older than its system, where the app was deleted.
        check(push.surface == book.surface, .wire, "as \(push.surface)")
        let isBackground = push.surface == .background
        check(push.priority == (isBackground ? 5 : 10), .wire, "at \(push.priority)")
        let body =
            isBackground
            ? "{\"aps\":{\"content-available\":1}}" : "{\"aps\":{\"content-changed\":true}}"
        check(push.payload == Array(body.utf8), .wire, "another body")
        check(!retiredTokens.contains(push.token), .retired, "\(push.token) is retired on record")
        check(
            !(clocksAgree && token.mustBeRetired(in: life.number)), .retired,
            "\(push.token) once more")
        for pause in pauses where pause.tenant == tenant && !pause.alertsOnly {
            switch pause.scope {
            case .all, .app: check(false, .paused, "pause \(pause.number) holds")
            case .type, .activity: break
            }
        }
        check(
            !book.sent.sends.contains {
                $0.life == life.number && $0.answeredAt == nil && loop.now - $0.at < .seconds(10)
                    && !book.sent.hasDeparted(since: $0.at)
            }, .inFlight, "another one is under way")
        if let last = book.lastTaken(knownIn: life.number) {
            check(
                book.wantedAt.map { $0 >= last.at - .seconds(10) } ?? false, .reloadsAsked,
                "nobody has asked since \(last.at)")
        }
        book.sent.sends.append(
            Outbox.Sent(
                at: loop.now, life: life.number, push: push.id, event: .update, priority: 10,
                timestamp: 0, mark: 0, mayShare: false, isFrame: false, isStale: false,
                token: push.token))
    }

    /// Once all is calm, what changes owe has come, before everything changes once more.
    func checkReloadsOfChanges() {
        // By the usual grants a token takes longer than the heal.
        guard plan.widensReloads else { return }
        for book in reloadBooks where book.isThere && book.isRegistered {
            guard let changedAt = book.changedAt, !book.isSettled(since: changedAt) else {
                continue
            }
            violated(
                .reloads,
                "phone \(book.phone.number) \(book.name.text): owed for a change at "
                    + "\(changedAt), and not sent since")
        }
    }

    /// Once all is calm, what was taken has come; and no window held more than its grant.
    func checkReloads() {
        let budgets = plan.configuration.budgets
        for book in reloadBooks {
            let name = "phone \(book.phone.number) \(book.name.text)"
            let grants = GrantTimeline(book.budgetClass)
            for (promise, detail, at) in book.sent.windowFaults(grants, budgets) {
                violated(promise, "\(name): \(detail), sent at \(at)")
            }
            // By the usual grants a token takes longer than the heal.
            guard plan.widensReloads, book.isThere, book.isRegistered,
                let owed = book.owedSince, !book.isSettled(since: owed)
            else { continue }
            violated(.reloads, "\(name): taken at \(owed), and not sent since")
        }
    }
}
