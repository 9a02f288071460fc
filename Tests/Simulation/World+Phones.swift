import TestSupport
import TomboloCore
import TomboloJSON
import TomboloLoop
import TomboloRelay

// What apps tell the relay.

extension World {
    /// The app registers its device and its start tokens.
    func equip(_ phone: Phone) {
        register(phone, phone.timeline?.latest)
        for type in Plan.types { issueStartToken(phone, type) }
        equipSurfaces(phone)
    }

    /// The device with a budget class that an operator gives it.
    ///
    /// - Parameters:
    ///   - user: who has the phone from then on; nil: who has it now.
    ///   - id: what the phone is called from then on; nil: what it is called now.
    ///   - pause: so long nobody tells anything before.
    func register(
        _ phone: Phone, _ budgetClass: BudgetClass?, user: String? = nil, id: Identifier? = nil,
        after pause: Duration? = nil
    ) {
        // A frequent device without frequent updates is a standard one.
        let isCurbed = budgetClass == .standard && dice.happens(.phones, oneIn: 2)
        let name = isCurbed ? "frequent" : budgetClass?.name
        let fields =
            "{\"user\":\"\(user ?? phone.newestUser)\",\"frequent_updates\":\(!isCurbed)"
            + ",\"os\":\"\(phone.system)\""
            + (name.map { ",\"budget_class\":\"\($0)\"" } ?? "") + "}"
        // The simulation writes what it reads.
        guard let registration = try? DeviceRegistration(reading: Self.json(fields)) else {
            preconditionFailure("\(fields)")  // our own text
        }
        phone.upload(
            Phone.Upload(
                command: .register(registration), budgetClass: budgetClass, isRetried: true,
                user: user, id: id, pause: pause))
    }

    static func json(_ text: String) -> JSONView {
        JSON(unchecked: Array(text.utf8)).document.root
    }

    func issueStartToken(_ phone: Phone, _ type: String) {
        let token = newToken()
        if let old = phone.startTokens[type] { apple.tokens[old]?.goneSince = clock.trueNow() }
        phone.startTokens[type] = token
        apple.tokens[token] = Apple.Token(phone: phone, installation: phone.installation)
        phone.upload(
            Phone.Upload(
                command: putToken(.start(type: type), token, phone), isRetried: true, token: token))
    }

    /// Its beginning is on no other line: whoever shows one has shown a secret.
    static let tokenPrefix = "5ec2e75e"

    func newToken() -> String {
        numbers += 1
        return Self.tokenPrefix + Phone.hex(UInt64(numbers), digits: 8)
    }

    /// - Parameter observedAt: when the app learned it, where it says so.
    func putToken(
        _ name: TokenName, _ token: String, _ phone: Phone, observedAt: Instant? = nil
    ) -> DeviceCommand {
        let told = observedAt ?? (plan.tellsTimes ? clock.trueNow() + phone.clockAhead : nil)
        let time = told.map { ",\"observed_at\":\"\($0.rfc3339)\"" } ?? ""
        guard
            // The simulation writes what it reads.
            let registration = try? TokenRegistration(
                reading: Self.json("{\"token\":\"\(token)\"\(time)}"))
        else { preconditionFailure("\(token) is a token") }  // our own text
        return .putToken(name, registration)
    }

    // MARK: Telling

    /// Tells the relay what the app has to tell, in order, until the world is over.
    func uploads(of number: Int) async {
        let phone = phones[number]
        while !isOver {
            guard !phone.uploads.isEmpty else {
                await phone.uploading.park()
                continue
            }
            await pause(dice.time(.network, 5...100))
            // The app's backend tells who has the phone, also while it is away.
            guard phone.isOnline || phone.uploads.first?.user != nil else {
                await phone.uploading.park()
                continue
            }
            guard let life, life.isReady, let relay = life.relay else {
                await pause(.milliseconds(900))
                continue
            }
            // The app may have been deleted meanwhile.
            guard let upload = phone.uploads.first else { continue }
            if let wait = upload.pause {
                phone.uploads[0].pause = nil
                await pause(wait)
                continue
            }
            begin(phone)
            var key = phone.key
            seam.apply(to: &key)
            var authority = phone.authority
            seam.apply(to: &authority)
            let answer = await seam.tell(upload.command, key, authority, relay)
            checkClaim(upload, phone, answer)
            let isDone = !upload.isRetried || isDone(upload, answer, life)
            note(.stored, who: number, isDone ? 1 : 0, 0, "\(answer) to \(upload.what)")
            // Its words take longer to make than the answer itself.
            if upload.number.isMultiple(of: 4) { checkTelling("an answer", "\(answer)") }
            guard isDone else {
                await pause(.milliseconds(300))
                continue
            }
            guard phone.uploads.first?.number == upload.number else { continue }
            // With what was noted when it began.
            let done = phone.uploads.removeFirst()
            if !life.isDead { finish(done, phone, life, answer) }
        }
    }

    private func isDone(_ upload: Phone.Upload, _ answer: Answer, _ life: Life) -> Bool {
        guard !life.isDead else { return false }
        switch answer {
        case .stored: return true
        case .refused(let refusal):
            if case .delete = upload.command { return refusal.code == .unknownDevice }
            return false
        default: return false
        }
    }

    /// From the moment at which something is told, nobody knows whether it holds.
    private func begin(_ phone: Phone) {
        // A registration later than its retirement brings a token back.
        if let token = phone.uploads[0].token, !phone.uploads[0].isOld {
            retiredTokens.remove(token)
        }
        // A push may go there before the app learns that it is stored.
        phone.uploads[0].card?.toldAt = loop.now
        // Another user or zone reloads the widgets.
        if case .register = phone.uploads[0].command {
            for book in reloadBooks where book.phone === phone && book.name == .widget {
                book.wantedAt = loop.now
            }
        }
        phone.uploads[0].toldAt = loop.now
        guard !phone.uploads[0].hasBegun else { return }
        phone.uploads[0].hasBegun = true
        // A device that was deleted meanwhile has no newer token: to the relay its card lives.
        if let card = phone.uploads[0].oldCard?.card {
            phone.uploads[0].oldCard?.toldAt = card.toldAt
            card.toldAt = loop.now
        }
        let upload = phone.uploads[0]
        if case .register = upload.command { phone.joinedAt = loop.now }
        if let user = upload.user { changeHands(phone, to: user) }
        if case .delete = upload.command {
            endCards(of: phone)
            leave(phone)
        }
        if let id = upload.id { takeID(id, phone) }
        if let budgetClass = upload.budgetClass { phone.timeline?.ask(budgetClass, at: loop.now) }
        if case .presence(let report) = upload.command {
            phone.front = nil
            if report.phase != .background { phone.mayBeFrontSince = loop.now }
        }
    }

    private func finish(
        _ upload: Phone.Upload, _ phone: Phone, _ life: Life, _ answer: Answer
    ) {
        if upload.budgetClass != nil { phone.timeline?.confirm(at: loop.now) }
        if let (card, toldAt) = upload.oldCard, case .stored(let stored) = answer,
            stored.kind == .outdated
        {
            card.toldAt = toldAt
        }
        if case .delete = upload.command { depart(phone) }
        if upload.endsMove { phone.endMove(at: loop.now) }
        if case .register = upload.command { phone.joinedAt = loop.now }
        if case .register(let registration) = upload.command, !upload.isClaim {
            haveChangedHands(phone, to: registration.user)
        }
        if case .presence(let report) = upload.command, report.phase == .active,
            case .stored(let stored) = answer, stored.kind == .updated
        {
            phone.front = (upload.toldAt, life.number)
        }
        if case .presence(let report) = upload.command, report.phase == .background,
            case .stored(let stored) = answer, stored.kind == .updated
        {
            phone.mayBeFrontSince = nil
        }
        if case .report(let reference, let report) = upload.command, report.phase == .dismissed,
            case .stored = answer
        {
            phone.cards[reference]?.dismissalKnownIn = life.number
        }
        if let book = upload.surface { surfaceIsStored(book, upload.token) }
        if let card = upload.card, card.token == upload.token {
            card.isRegistered = true
            card.registeredSince = loop.now
        }
    }

    func issueToken(_ card: Card, _ phone: Phone) {
        guard !card.isDismissed, phone.cards[card.reference] === card else { return }
        let token = newToken()
        if let old = card.token { apple.tokens[old]?.goneSince = clock.trueNow() }
        card.token = token
        card.isRegistered = false
        apple.tokens[token] = Apple.Token(
            phone: phone, installation: phone.installation, card: card)
        note(.token, who: phone.number, 0, 0, "\(token) for \(card.reference.text)")
        guard strikes(.rotation, .phones, oneIn: 2) else {
            registerToken(of: card, phone)
            return
        }
        // Pushes to the old one are on their way meanwhile.
        after(dice.time(.phones, 100...20_000)) { [self] in
            if card.token == token, phone.cards[card.reference] === card {
                registerToken(of: card, phone)
            }
        }
    }

    func registerToken(of card: Card, _ phone: Phone, after pause: Duration? = nil) {
        guard let token = card.token else { return }
        phone.upload(
            Phone.Upload(
                command: putToken(.activity(card.reference), token, phone), isRetried: true,
                card: card, token: token, pause: pause))
    }

    func report(_ text: String, _ card: Card, _ phone: Phone, isRetried: Bool) {
        // The simulation writes what it reads.
        guard let report = try? PhoneReport(reading: Self.json(text)) else {
            preconditionFailure(text)  // our own text
        }
        note(.report, who: phone.number, 0, 0, text)
        let upload = Phone.Upload(
            command: .report(card.reference, report), isRetried: isRetried)
        guard strikes(.lateReports, .phones, oneIn: 2) else {
            phone.upload(upload)
            return
        }
        let installation = phone.installation
        after(dice.time(.phones, 1_000...4_000_000)) {
            if phone.installation == installation { phone.upload(upload) }
        }
    }
}
