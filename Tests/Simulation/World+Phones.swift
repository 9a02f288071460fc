import TestSupport
import TomboloCore
import TomboloJSON
import TomboloLoop
import TomboloRelay

// What phones and their apps do.

extension World {
    /// The app registers its device and its start token.
    func equip(_ phone: Phone) {
        let fields =
            "{\"user\":\"\(phone.user)\",\"frequent_updates\":true,\"os\":\"18.2\","
            + "\"budget_class\":\"\(phone.budgetClass.name)\"}"
        // The simulation writes what it reads.
        guard let registration = try? DeviceRegistration(reading: Self.json(fields)) else {
            preconditionFailure("\(fields)")  // our own text
        }
        phone.upload(Phone.Upload(command: .register(registration), isRetried: true))
        phone.upload(
            Phone.Upload(
                command: putToken(.start(type: "Runner"), phone.startToken), isRetried: true))
    }

    static func json(_ text: String) -> JSONView {
        JSON(unchecked: Array(text.utf8)).document.root
    }

    private func putToken(_ name: TokenName, _ token: String) -> DeviceCommand {
        guard
            // The simulation writes what it reads.
            let registration = try? TokenRegistration(
                reading: Self.json("{\"token\":\"\(token)\"}"))
        else { preconditionFailure("\(token) is a token") }  // our own text
        return .putToken(name, registration)
    }

    /// Tells the relay what the app has to tell, in order, until the world is over.
    func uploads(of number: Int) async {
        let phone = phones[number]
        while !isOver {
            guard let upload = phone.uploads.first else {
                await phone.uploading.park()
                continue
            }
            await pause(dice.time(.network, 5...100))
            guard phone.isOnline, let life, life.isReady, let relay = life.relay else {
                await pause(.milliseconds(700))
                continue
            }
            var key = phone.key
            if plant == .tenantLeftOut { key.tenant = plan.tenants[0] }
            let answer = await relay.submit(upload.command, for: key)
            var isDone = !upload.isRetried
            if case .stored = answer, !life.isDead { isDone = true }
            note(.stored, who: number, isDone ? 1 : 0, 0, "\(answer)")
            guard isDone else {
                await pause(.milliseconds(300))
                continue
            }
            phone.uploads.removeFirst()
            if let card = upload.card, card.token == upload.token {
                card.isRegistered = true
                card.registeredSince = loop.now
            }
        }
    }

    // MARK: Arriving

    /// A push arrives at a phone that is online.
    func receive(_ push: Push, _ phone: Phone, _ card: Card?) {
        guard let content = PushContent(push) else { return }
        if content.tenant != phone.tenant.name.rawValue {
            violated(.tenants, "\(content.tenant)'s state on \(phone.tenant.name)'s phone")
        }
        if push.event == .start {
            guard let reference = content.reference else { return }
            begin(reference, content, phone)
            return
        }
        guard let card, !card.isDismissed else { return }
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
            let key = CardKey(phone: phone.number, reference: reference)
            if outboxes[key]?.resendsStarts != true {
                violated(.oneStart, "a second card for \(reference.text)")
            }
            guard !card.hasEnded, content.timestamp >= card.lastTimestamp else { return }
            show(content, on: card, phone)
            return
        }
        let card = Card(reference)
        phone.cards[reference] = card
        note(.card, who: phone.number, content.mark, 0, reference.text)
        show(content, on: card, phone)
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
        card.lastTimestamp = max(card.lastTimestamp, content.timestamp)
        card.state = content.state
        card.mark = content.mark
        note(.delivered, who: phone.number, content.mark, content.timestamp)
        guard let alert = content.alert else { return }
        card.alerts[alert, default: 0] += 1
        let key = CardKey(phone: phone.number, reference: card.reference)
        if card.alerts[alert] ?? 0 > 1, outboxes[key]?.resendsStarts != true {
            violated(.alertOnce, "alert \(alert) rang twice on phone \(phone.number)")
        }
    }

    private func issueToken(_ card: Card, _ phone: Phone) {
        guard !card.isDismissed else { return }
        numbers += 1
        let token = "c0" + Phone.hex(UInt64(numbers), digits: 14)
        if let old = card.token { apple.tokens[old]?.goneSince = clock.trueNow() }
        card.token = token
        card.isRegistered = false
        apple.tokens[token] = Apple.Token(phone: phone, card: card)
        note(.token, who: phone.number, 0, 0, "\(token) for \(card.reference.text)")
        phone.upload(
            Phone.Upload(
                command: putToken(.activity(card.reference), token), isRetried: true, card: card,
                token: token))
    }

    // MARK: Troubles

    /// Sets off what happens to phones until the heal.
    func beginTroubles() {
        apple.changeWeather()
        troublePhones()
        sweep()
    }

    private func troublePhones() {
        guard !isHealed else { return }
        if !phones.isEmpty {
            let phone = dice.pick(.phones, phones)
            if strikes(.offline, .phones, oneIn: 3) { goOffline(phone) }
            let cards = phone.sortedCards.filter { $0.token != nil && !$0.isDismissed }
            if !cards.isEmpty { trouble(dice.pick(.phones, cards), phone) }
        }
        after(dice.time(.phones, 500...60_000)) { [self] in troublePhones() }
    }

    private func trouble(_ card: Card, _ phone: Phone) {
        if strikes(.rotation, .phones, oneIn: 2) {
            note(.rotate, who: phone.number, 0, 0, card.reference.text)
            issueToken(card, phone)
        }
        if strikes(.localUpdates, .phones, oneIn: 3) { updateLocally(card, phone) }
        if strikes(.swipes, .phones, oneIn: 6) { swipe(card, phone) }
    }

    private func goOffline(_ phone: Phone) {
        guard phone.isOnline else { return }
        phone.isOnline = false
        note(.offline, who: phone.number)
        after(dice.time(.phones, 500...300_000)) { [self] in comeOnline(phone) }
    }

    func comeOnline(_ phone: Phone) {
        guard !phone.isOnline else { return }
        phone.isOnline = true
        note(.online, who: phone.number)
        guard let push = phone.stored else { return }
        phone.stored = nil
        receive(push, phone, apple.tokens[push.token]?.card)
    }

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

    private func report(_ text: String, _ card: Card, _ phone: Phone, isRetried: Bool) {
        // The simulation writes what it reads.
        guard let report = try? PhoneReport(reading: Self.json(text)) else {
            preconditionFailure(text)  // our own text
        }
        note(.report, who: phone.number, 0, 0, text)
        phone.upload(
            Phone.Upload(command: .report(card.reference, report), isRetried: isRetried))
    }
}
