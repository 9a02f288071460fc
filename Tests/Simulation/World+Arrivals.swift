import TestSupport
import TomboloCore
import TomboloJSON
import TomboloLoop
import TomboloRelay

// What arrives at phones.

extension World {
    /// A push arrives at a phone that is online.
    func receive(_ push: Push, _ phone: Phone, _ card: Card?) {
        if BareEnd(push) != nil { return receiveBareEnd(card, phone) }
        guard let content = PushContent(push) else { return }
        if content.isBare {
            if let card, content.timestamp >= card.lastTimestamp { card.hasEnded = true }
            return
        }
        if content.tenant != phone.tenant.name.rawValue {
            violated(.tenants, "\(content.tenant)'s state on \(phone.tenant.name)'s phone")
        }
        if push.event == .start {
            guard let reference = content.reference else { return }
            begin(reference, content, phone)
            return
        }
        guard let card, !card.isDismissed else { return }
        guard push.event == .end || !isFarAhead(content.timestamp) else {
            return note(.ignored, who: phone.number, content.mark)
        }
        let isOld = content.timestamp < card.lastTimestamp
        // What the app has drawn itself stays, whatever was on its way.
        if isOld, card.isUpdatedLocally { card.hasLostUpdate = true }
        guard !card.hasEnded, !isOld || push.event == .end else {
            note(.ignored, who: phone.number, content.mark)
            return
        }
        show(content, on: card, phone)
        if push.event == .end { card.hasEnded = true }
    }

    private func begin(_ reference: ActivityReference, _ content: PushContent, _ phone: Phone) {
        if let card = phone.cards[reference] {
            if !mayBeginTwice(card, phone) {
                violated(.oneStart, "a second card for \(reference.text)")
            }
            guard !card.hasEnded, content.timestamp >= card.lastTimestamp else { return }
            show(content, on: card, phone)
            hear(content.channel, card, phone)
            return
        }
        let card = Card(reference)
        // A restored log has lost its start: what runs under its name may be for others.
        card.isStranded = self.reference.origins[content.mark] == nil
        phone.cards[reference] = card
        card.isLeft = arrivesLate(card, phone)
        card.isUnnamed = isOfFormerID(card, phone)
        age(card, phone)
        note(.card, who: phone.number, content.mark, 0, reference.text)
        show(content, on: card, phone)
        hear(content.channel, card, phone)
        if content.channel == nil { awaitToken(of: card, phone) }
    }

    /// A card hears of its changes where its newest start said. An app ends the older of two cards
    /// of one name: that one is not told apart from the newer here, but for what it listens on.
    private func hear(_ channel: String?, _ card: Card, _ phone: Phone) {
        guard channel != card.channel else { return }
        if let channel {
            listen(card, on: channel, phone)
            // Its start came late: the app ends it, as it has ended the others.
            if arrivesLate(card, phone) { card.isDismissed = true }
        } else {
            card.channel = nil
            card.stored = nil
            awaitToken(of: card, phone)
        }
    }

    private func mayBeginTwice(_ card: Card, _ phone: Phone) -> Bool {
        let outbox = outboxes[key(phone, card.reference)]
        return outbox?.resendsStarts == true || outbox?.isUnsure == true || card.isStranded
    }

    func key(_ phone: Phone, _ reference: ActivityReference) -> CardKey {
        CardKey(phone: phone.number, installation: phone.installation, reference: reference)
    }

    private func awaitToken(of card: Card, _ phone: Phone) {
        if strikes(.missingTokens, .phones, oneIn: 4) {
            card.isTokenless = true
            return
        }
        let isLate = strikes(.lateTokens, .phones, oneIn: 2)
        after(dice.time(.phones, isLate ? 3_000...400_000 : 50...3_000)) { [self] in
            issueToken(card, phone)
        }
    }

    private func show(_ content: PushContent, on card: Card, _ phone: Phone) {
        if !isFarAhead(content.timestamp) {
            card.lastTimestamp = max(card.lastTimestamp, content.timestamp)
        }
        card.state = content.state
        card.mark = content.mark
        card.staleDate = content.staleDate
        card.bundle = content.bundle?.play
        note(.delivered, who: phone.number, content.mark, content.timestamp)
        guard let alert = content.alert else { return }
        card.alerts[alert, default: 0] += 1
        if card.alerts[alert] ?? 0 > 1, !mayBeginTwice(card, phone) {
            violated(.alertOnce, "alert \(alert) rang twice on phone \(phone.number)")
        }
    }

    // MARK: Adoption

    /// An app that starts its card itself does so when it likes; the relay learns its token later.
    func adopt(_ activity: ActivityNumber, _ event: NewEvent) {
        guard let model = reference.models[activity], model.isAdopted else { return }
        let reference = ActivityReference(
            id: Plan.identifier(model.id), incarnation: model.incarnation)
        for phone in phones where phone.tenant == event.tenant && model.isFor(phone) {
            // Whether it is its user's phone still nobody can tell while somebody signs in.
            guard model.user == nil || phone.users.count == 1 else { continue }
            let installation = phone.installation
            after(dice.time(.phones, 1...20_000)) { [self] in
                // A restored log may have lost what the app was told.
                guard phone.installation == installation, phone.cards[reference] == nil,
                    let now = self.reference.models[activity], now.isAdopted,
                    now.incarnation == model.incarnation, now.id == model.id
                else { return }
                let card = Card(reference)
                phone.cards[reference] = card
                // Somebody else may have the phone since the app was told.
                card.isLeft = isOfAnother(card, phone)
                card.isUnnamed = isOfFormerID(card, phone)
                age(card, phone)
                note(.card, who: phone.number, 0, 1, reference.text)
                awaitToken(of: card, phone)
            }
        }
    }
}
