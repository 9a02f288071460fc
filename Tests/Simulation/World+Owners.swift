import TestSupport
import TomboloCore
import TomboloLoop
import TomboloRelay

// Devices that come to somebody else, and devices that go and come back with what they had.

extension World {
    // MARK: Users

    /// Somebody else signs in: what the one before had there is not for these eyes.
    func signIn(_ phone: Phone) {
        guard !phone.isStranger, !phone.startTokens.isEmpty else { return }
        let user = phone.newestUser == "ann" ? "bob" : "ann"
        note(.signIn, who: phone.number, 0, 0, user)
        register(phone, phone.timeline?.latest, user: user)
    }

    /// The relay is about to be told: from now on both may be right.
    func changeHands(_ phone: Phone, to user: String) {
        phone.user = user
        phone.users.insert(user)
        phone.usersEver.insert(user)
        phone.changedHandsAt = loop.now
        phone.handovers += 1
        // Whose widgets a change reloads is looked up after it is durable.
        for book in phone.surfaces { book.changedAt = nil }
        // A card without a token of its own is the app's to end.
        for card in phone.sortedCards where card.channel != nil && isOfAnother(card, phone) {
            card.isDismissed = true
        }
    }

    /// The relay knows whose it is.
    func haveChangedHands(_ phone: Phone, to user: String?) {
        guard let user, phone.changedHandsAt != nil, phone.user == user else { return }
        phone.users = [user]
        for card in phone.cards.values where isOfAnother(card, phone) { card.isLeft = true }
    }

    /// Whether the activity of a card is for a user who has the phone no more.
    func isOfAnother(_ card: Card, _ phone: Phone) -> Bool {
        user(of: card, phone).map { $0 != phone.user } ?? false
    }

    /// Whether somebody else came to have the phone while a card's start was on its way, also where
    /// its user has the phone again: that user gets another card.
    func arrivesLate(_ card: Card, _ phone: Phone) -> Bool {
        guard let changedAt = phone.changedHandsAt, user(of: card, phone) != nil else {
            return false
        }
        let start = outboxes[key(phone, card.reference)]?.sends.last { $0.event == .start }
        return isOfAnother(card, phone) || start.map { $0.at < changedAt } ?? false
    }

    /// For whom the activity of a card is, where the phone has changed hands.
    private func user(of card: Card, _ phone: Phone) -> String? {
        guard phone.changedHandsAt != nil,
            let (number, _) = reference.model(
                tenant: phone.tenant, id: card.reference.id.rawValue)
        else { return nil }
        let name = Reference.Incarnation(
            activity: number, number: card.reference.incarnation)
        return reference.audiences[name]?.user
    }

    // MARK: Going and coming back

    /// The app's backend deletes the device, and registers it again with the tokens that it had:
    /// the phone is the same, and has its cards.
    func goAndComeBack(_ phone: Phone) {
        guard !phone.isStranger, !phone.startTokens.isEmpty else { return }
        note(.departure, who: phone.number)
        phone.upload(Phone.Upload(command: .delete, isRetried: true))
        let away = dice.time(.owners, dice.happens(.owners, oneIn: 2) ? 1...500 : 1...60_000)
        register(phone, phone.timeline?.latest, after: away)
        for type in Plan.types {
            guard let token = phone.startTokens[type] else { continue }
            phone.upload(
                Phone.Upload(
                    command: putToken(.start(type: type), token, phone), isRetried: true,
                    token: token))
        }
        tellCards(phone)
        for book in phone.surfaces { registerToken(of: book) }
    }

    /// The app knows of the cards that are there.
    private func tellCards(_ phone: Phone, after pause: Duration? = nil) {
        for card in phone.sortedCards
        where !card.isDismissed && !card.hasEnded && !card.isLapsed && card.token != nil {
            registerToken(of: card, phone, after: pause)
        }
    }

    private func pauseOfApp() -> Duration? {
        dice.happens(.ids, oneIn: 2) ? nil : dice.time(.ids, 100...30_000)
    }

    /// A device that is deleted ends its cards first, as far as they have tokens.
    func endCards(of phone: Phone) {
        phone.wasDeleted = true
        phone.handovers += 1
        for card in phone.cards.values where card.channel == nil {
            if card.isRegistered {
                card.isLeft = true
            } else if card.registeredSince.nanoseconds > 0 || card.toldAt != nil {
                // Whether it has a token by the relay, nobody can tell.
                card.isUnnamed = true
            }
        }
    }

    /// The relay is about to hear that a device goes.
    func leave(_ phone: Phone) {
        phone.front = nil
        for card in phone.cards.values {
            card.isRegistered = card.channel != nil
        }
        for book in phone.surfaces {
            book.isRegistered = false
            book.known = nil
            book.owedSince = nil
            book.changedAt = nil
        }
        depart(phone)
    }

    /// Nobody waits for what is under way any more: noted when the relay is about to be told, and
    /// when it says that the device is gone.
    func depart(_ phone: Phone) {
        for book in phone.surfaces { book.sent.departures.append(loop.now) }
        for key in outboxes.keys where key.phone == phone.number {
            outboxes[key]?.departures.append(loop.now)
        }
    }

    // MARK: Another id

    /// The app has lost what it called its phone, and makes a new id for it; its tokens are what
    /// they were.
    func changeID(_ phone: Phone) {
        guard !phone.isStranger, !phone.startTokens.isEmpty,
            !phone.uploads.contains(where: { $0.id != nil })
        else { return }
        let id = Plan.identifier("\(phone.ids[0])-\(phone.ids.count)")
        note(.departure, who: phone.number, 0, 0, "now \(id)")
        register(phone, phone.timeline?.latest, id: id)
        for type in Plan.types {
            guard let token = phone.startTokens[type] else { continue }
            phone.upload(
                Phone.Upload(
                    command: putToken(.start(type: type), token, phone), isRetried: true,
                    token: token, pause: pauseOfApp()))
        }
        tellCards(phone, after: pauseOfApp())
        phone.uploads[phone.uploads.count - 1].endsMove = true
    }

    /// The relay is about to hear of it: for it there are two devices, until all tokens have gone
    /// from the one to the other.
    func takeID(_ id: Identifier, _ phone: Phone) {
        phone.rename(id, at: loop.now)
        leave(phone)
        for card in phone.cards.values where isOfFormerID(card, phone) { card.isUnnamed = true }
    }

    /// Whether a card's activity is for the phone under a name that it has no more.
    func isOfFormerID(_ card: Card, _ phone: Phone) -> Bool {
        guard phone.ids.count > 1,
            let (number, _) = reference.model(
                tenant: phone.tenant, id: card.reference.id.rawValue)
        else { return false }
        let name = Reference.Incarnation(
            activity: number, number: card.reference.incarnation)
        guard let audience = reference.audiences[name], audience.user == nil else { return false }
        return !audience.devices.contains(phone.id.rawValue)
    }
}
