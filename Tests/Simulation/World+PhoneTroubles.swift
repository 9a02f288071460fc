import TestSupport
import TomboloCore
import TomboloJSON
import TomboloLoop
import TomboloRelay

// What happens to phones and their apps until the heal.

extension World {
    /// Sets off what happens to phones, and what Apple's weather is.
    func beginTroubles() {
        apple.changeWeather()
        troublePhones()
        troubleSurfaces()
        troubleStrangers()
        loseChannels()
        sweep()
    }

    private func troublePhones() {
        guard !isHealed else { return }
        if !phones.isEmpty {
            let phone = dice.pick(.phones, phones)
            if strikes(.offline, .phones, oneIn: 3) { goOffline(phone) }
            troublePhoneClock(phone)
            if strikes(.presence, .phones, oneIn: 1) { tellPresence(phone) }
            if strikes(.changedGrants, .phones, oneIn: 6), phone.timeline != nil {
                let classes = [BudgetClass.standard, .frequent, .lab]
                register(phone, dice.pick(.phones, classes))
            }
            if !phone.startTokens.isEmpty, strikes(.startTokens, .phones, oneIn: 6) {
                issueStartToken(phone, dice.pick(.phones, Plan.types))
            }
            if strikes(.deletions, .phones, oneIn: 12) { reinstall(phone) }
            if strikes(.deletedDevices, .owners, oneIn: 8) { goAndComeBack(phone) }
            if strikes(.secondIDs, .ids, oneIn: 12) { changeID(phone) }
            if strikes(.changedUsers, .owners, oneIn: 8) { signIn(phone) }
            let cards = phone.sortedCards.filter {
                $0.token != nil && !$0.isDismissed && !$0.isLapsed && !isRemoved($0)
            }
            if !cards.isEmpty { trouble(dice.pick(.phones, cards), phone) }
        }
        after(dice.time(.phones, 500...60_000)) { [self] in troublePhones() }
    }

    private func trouble(_ card: Card, _ phone: Phone) {
        if strikes(.rotation, .phones, oneIn: 2) {
            note(.rotate, who: phone.number, 0, 0, card.reference.text)
            let (old, since) = (card.token, clock.trueNow() - .seconds(1))
            issueToken(card, phone)
            if let old, strikes(.oldTokens, .phones, oneIn: 2) {
                tellOldToken(old, since, card, phone)
            }
        }
        if strikes(.localUpdates, .phones, oneIn: 3) { updateLocally(card, phone) }
        if strikes(.swipes, .phones, oneIn: 6) { swipe(card, phone) }
    }

    /// An upload from before, that comes when its token is no more.
    private func tellOldToken(_ token: String, _ since: Instant, _ card: Card, _ phone: Phone) {
        let installation = phone.installation
        after(dice.time(.phones, 100...300_000)) { [self] in
            // Without the times of the others nobody could tell which is older.
            guard plan.tellsTimes, phone.installation == installation else { return }
            let command = putToken(.activity(card.reference), token, phone, observedAt: since)
            phone.upload(
                Phone.Upload(
                    command: command, isRetried: true, token: token, isOld: true,
                    oldCard: (card, nil)))
        }
    }

    // MARK: The way to Apple

    private func goOffline(_ phone: Phone) {
        guard phone.isOnline else { return }
        phone.isOnline = false
        note(.offline, who: phone.number)
        after(dice.time(.phones, 500...300_000)) { [self] in comeOnline(phone) }
    }

    func comeOnline(_ phone: Phone) {
        guard !phone.isOnline else { return }
        phone.isOnline = true
        seam.relaunch(phone)
        phone.uploading.unpark()
        note(.online, who: phone.number)
        for card in phone.sortedCards {
            guard let push = card.stored else { continue }
            card.stored = nil
            receive(push, phone, card)
        }
        guard let push = phone.stored else { return }
        phone.stored = nil
        receive(push, phone, apple.tokens[push.token]?.card)
    }

    // MARK: People

    private func swipe(_ card: Card, _ phone: Phone) {
        card.isDismissed = true
        note(.swipe, who: phone.number, 0, 0, card.reference.text)
        if let token = card.token { apple.tokens[token]?.goneSince = clock.trueNow() }
        report("{\"phase\":\"dismissed\",\"by\":\"user\"}", card, phone, isRetried: false)
    }

    private func updateLocally(_ card: Card, _ phone: Phone) {
        let instant = clock.trueNow() + .seconds(Int64(dice.roll(.phones, 0...2)))
        card.lastTimestamp = max(card.lastTimestamp, instant.seconds)
        card.isUpdatedLocally = true
        report(
            "{\"phase\":\"active\",\"last_local_update\":\"\(instant.rfc3339)\"}", card, phone,
            isRetried: true)
    }

    /// The app is deleted, and installed again: cards and tokens are gone. Half of the time its
    /// backend tells the relay.
    private func reinstall(_ phone: Phone) {
        note(.reinstall, who: phone.number)
        let now = clock.trueNow()
        for token in phone.startTokens.values { apple.tokens[token]?.goneSince = now }
        for card in phone.cards.values {
            if let token = card.token { apple.tokens[token]?.goneSince = now }
        }
        dropSurfaces(phone, at: now)
        phone.cards = [:]
        phone.stored = nil
        phone.startTokens = [:]
        phone.installation += 1
        phone.endMove(at: loop.now)
        phone.uploads.removeAll()
        phone.front = nil
        if let latest = phone.timeline?.latest {
            // Of what the old app had asked for last nobody knows whether it was heard.
            phone.timeline?.ask(latest, at: loop.now)
        }
        if dice.happens(.phones, oneIn: 2) {
            phone.upload(Phone.Upload(command: .delete, isRetried: true))
        }
        after(dice.time(.phones, 10...120_000)) { [self] in equip(phone) }
    }

    // MARK: Presence

    /// The app says where it is; some of it is lost, and some comes late.
    private func tellPresence(_ phone: Phone) {
        let phase = dice.pick(.phones, ["active", "active", "inactive", "background"])
        let cause = dice.happens(.phones, oneIn: 4) ? ",\"cause\":\"control_center\"" : ""
        let text = "{\"phase\":\"\(phase)\"\(cause),\"at\":\"\(clock.trueNow().rfc3339)\"}"
        // The simulation writes what it reads.
        guard let report = try? PresenceReport(reading: Self.json(text)) else {
            preconditionFailure(text)  // our own text
        }
        note(.presence, who: phone.number, 0, 0, text)
        let upload = Phone.Upload(command: .presence(report), isRetried: false)
        guard strikes(.lateReports, .phones, oneIn: 3) else {
            phone.upload(upload)
            return
        }
        if dice.happens(.phones, oneIn: 3) { return }
        let installation = phone.installation
        after(dice.time(.phones, 100...4_000_000)) {
            if phone.installation == installation { phone.upload(upload) }
        }
    }
}
