import TestSupport
import TomboloCore
import TomboloLoop
import TomboloRelay

// Somebody with a key of a device of their own, who asks for what is others': their user, and the
// cards of their activities.

extension World {
    static let strangerUser = "mallory"
    static let strangerDevice = "stranger"

    /// A phone that no activity is for, for each tenant.
    func makeStrangers() {
        guard faults.contains(FaultSet(.strangers)) else { return }
        for tenant in plan.tenants {
            let phone = Phone(
                number: phones.count, tenant: tenant, id: Plan.identifier(Self.strangerDevice),
                user: Self.strangerUser, budgetClass: nil, system: "18.2", loop: loop)
            phone.authority = .device(user: Self.strangerUser, app: nil, key: .max)
            phones.append(phone)
        }
    }

    /// So many tries at doubling intervals take more than three minutes.
    private static let wrongPhonesEach = 9

    /// Phones of a user's whose apps are of another environment, for each tenant.
    func makeWrongPhones() {
        guard faults.contains(FaultSet(.wrongTokens)) else { return }
        for tenant in plan.tenants {
            for index in 0..<Self.wrongPhonesEach {
                let phone = Phone(
                    number: phones.count, tenant: tenant, id: Plan.identifier("wrong-\(index)"),
                    user: "ann", budgetClass: .standard, system: "18.2", loop: loop)
                phone.isWrong = true
                phones.append(phone)
            }
        }
    }

    /// Now and then, until the heal.
    func troubleStrangers() {
        guard !isHealed else { return }
        for phone in phones where phone.isStranger && !phone.startTokens.isEmpty {
            switch dice.roll(.strangers, 1...3) {
            case 1: claimUser(phone)
            case 2: claimCard(phone)
            default: claimToken(phone)
            }
        }
        after(dice.time(.strangers, 1_000...120_000)) { [self] in troubleStrangers() }
    }

    /// Another user's name would bring that user's cards.
    private func claimUser(_ phone: Phone) {
        let user = dice.pick(.strangers, ["ann", "bob"])
        // The simulation writes what it reads.
        guard let claim = try? DeviceRegistration(reading: Self.json("{\"user\":\"\(user)\"}"))
        else { preconditionFailure(user) }  // our own text
        phone.upload(Phone.Upload(command: .register(claim), isRetried: false, isClaim: true))
    }

    /// A token for a card of an activity that is, or was, for others.
    private func claimCard(_ phone: Phone) {
        let all = reference.models.filter { $0.value.tenant == phone.tenant }
            .sorted { $0.key < $1.key }.map(\.value)
        guard !all.isEmpty else { return }
        let model = dice.pick(.strangers, all)
        let name = ActivityReference(
            id: Plan.identifier(model.id), incarnation: max(1, model.incarnation))
        let card = phone.cards[name] ?? Card(name)
        // What it shows, and whether it is ever told anything, is no concern of the others.
        card.isStranded = true
        phone.cards[name] = card
        let token = newToken()
        card.token = token
        apple.tokens[token] = Apple.Token(
            phone: phone, installation: phone.installation, card: card)
        phone.upload(
            Phone.Upload(
                command: putToken(.activity(name), token, phone), isRetried: false, token: token))
    }

    /// Another's token would bring what goes to that phone.
    private func claimToken(_ phone: Phone) {
        let others = phones.filter {
            !$0.isStranger && $0.tenant == phone.tenant && !$0.startTokens.isEmpty
        }
        guard !others.isEmpty else { return }
        let type = dice.pick(.strangers, Plan.types)
        guard let token = dice.pick(.strangers, others).startTokens[type] else { return }
        phone.upload(
            Phone.Upload(
                command: putToken(.start(type: type), token, phone), isRetried: false,
                isClaim: true))
    }

    /// Each token on record is one device's, and no stranger has taken one from another.
    ///
    /// - Parameter before: what was on record before.
    func checkHolders(
        _ record: Record, _ tokens: Set<String>, _ before: [Int64: [String: String]]
    ) {
        let isStranger = DeviceKey(record: record)?.id.rawValue == Self.strangerDevice
        for (other, theirs) in recordedTokens where other != record.number {
            if !tokens.isDisjoint(with: theirs.values) {
                violated(.holders, "devices \(other) and \(record.number) have one token")
            }
            guard isStranger, let had = before[other], !tokens.isDisjoint(with: had.values) else {
                continue
            }
            violated(.holders, "device \(record.number) has taken a token from \(other)")
        }
    }

    /// A claim that was taken.
    func checkClaim(_ upload: Phone.Upload, _ phone: Phone, _ answer: Answer) {
        guard upload.isClaim, case .register = upload.command, case .stored = answer else { return }
        violated(.audience, "the stranger \(phone.number) is another user now")
    }

    /// What a push shows is for the phone that gets it, in the life of the activity that it is of.
    func audienceFaults(
        _ content: PushContent, _ event: Push.Event, _ phone: Phone
    ) -> [(Promise, String)] {
        guard !content.isBare else {
            let isOther = event != .end
            return isOther ? [(.audience, "without its content")] : []
        }
        guard let origin = reference.origins[content.mark],
            let audience = reference.audience(of: origin), !audience.isFor(phone)
        else { return [] }
        return [(.audience, "mark \(content.mark) is not for phone \(phone.number)")]
    }
}
