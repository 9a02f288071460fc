import TomboloCrypto

/// The tokens of a phone: the system issues them, the app learns of them, and some day they are
/// dead.
extension Phone {
    /// A token of a card that is gone, which Apple takes for alive until then.
    struct DyingToken: Sendable {
        var token: String
        var purpose: TokenPurpose
        var end: TokenEnd
    }

    /// The app is launched for the first time: one push-to-start token per type, one for the
    /// widgets, one per control.
    package mutating func boot() -> [PhoneEffect] {
        var effects = issueStartTokens()
        var surfaces = [TokenPurpose.widget]
        if configuration.osMajor >= 18 {
            surfaces += configuration.controlKinds.map { .control(kind: $0) }
        }
        for surface in surfaces {
            effects.append(issue(surface.name ?? "", .surface(surface), surface))
        }
        return effects
    }

    private mutating func issueStartTokens() -> [PhoneEffect] {
        let isSilent = trouble.kinds.contains(.startStreamSilent)
        return configuration.attributesTypes.map { type in
            let issued = issue(type, .startType(type), .start(attributesType: type))
            guard isSilent, case .tokenIssued(let token, let purpose) = issued else {
                return issued
            }
            return .tokenIssuedSilently(token, purpose)
        }
    }

    /// The app is opened: it reads the push-to-start tokens that the system did not tell.
    mutating func readStartTokens() -> [PhoneEffect] {
        guard trouble.kinds.contains(.startStreamSilent) else { return [] }
        return configuration.attributesTypes.map { type in
            issue(type, .startType(type), .start(attributesType: type))
        }
    }

    /// A token that outlives a restart.
    private mutating func issue(
        _ name: String, _ purpose: Purpose, _ reported: TokenPurpose
    ) -> PhoneEffect {
        var seed = configuration.startTokenSeed + [UInt8]("\(configuration.name) \(name)".utf8)
        if installations > 1 { seed += [UInt8](" \(installations)".utf8) }
        let token = Self.token(seed)
        purposes[token] = purpose
        return .tokenIssued(token, reported)
    }

    /// The user deletes the app and installs it again: cards are gone, no token of before lives,
    /// and the app is launched with others. Budgets stay: they are the system's.
    package mutating func reinstall(at now: WallInstant) -> [PhoneEffect] {
        var effects = advance(to: now)
        let gone = TokenEnd(reason: .unregistered, at: now)
        for index in cards.indices { dismiss(index, at: now, &effects) }
        cards = []
        for dying in dyingTokens {
            effects.append(.tokenRetired(dying.token, dying.purpose, gone))
        }
        dyingTokens = []
        for (token, purpose) in purposes.sorted(by: { $0.key < $1.key }) {
            guard let reported = reported(purpose) else { continue }
            effects.append(.tokenRetired(token, reported, gone))
        }
        purposes = [:]
        installations += 1
        // The widgets of an app go with it.
        (board, gallery) = (WidgetBoard(configuration.widgetRules), nil)
        (stored, late, held) = (nil, nil, nil)
        (grouped, lateStarts, storedBroadcasts, lockedBroadcasts) = ([], [], [:], [:])
        isTerminated = false
        (opened, openedPage) = (nil, nil)
        if presence != .background {
            presence = .background
            effects.append(.moved(.background))
        }
        return effects + boot()
    }

    private func reported(_ purpose: Purpose) -> TokenPurpose? {
        switch purpose {
        case .startType(let type): .start(attributesType: type)
        case .surface(let surface): surface
        case .card: nil
        }
    }

    /// Issues the next update token: 64 bytes, longer than an app's own token, as on real phones.
    mutating func makeUpdateToken() -> String {
        issuedTokens += 1
        return Self.token(
            configuration.updateTokenSeed + [UInt8]("\(configuration.name) \(issuedTokens)".utf8))
    }

    private static func token(_ seed: [UInt8]) -> String {
        Hex.encode(SHA256.digest(seed + [0]) + SHA256.digest(seed + [1]))
    }

    /// Whether chance, by the phone's seed, keeps a card's update token back.
    func lacksUpdateToken(card number: Int) -> Bool {
        guard trouble.noUpdateToken > 0 else { return false }
        return chance("token \(number)") < trouble.noUpdateToken
    }

    /// A number from 0 up to 1 that the seed and a name decide.
    func chance(_ name: String) -> Double {
        let digest = SHA256.digest(
            configuration.updateTokenSeed + [UInt8]("\(configuration.name) \(name)".utf8))
        return digest.prefix(4).reduce(0) { ($0 + Double($1)) / 256 }
    }

    // MARK: - Their ends

    /// A card's token goes out of use. Apple takes it for alive until the end's instant.
    mutating func retireToken(
        _ index: Int, _ end: TokenEnd, at now: WallInstant, _ effects: inout [PhoneEffect]
    ) {
        guard let token = cards[index].updateToken else { return }
        cards[index].updateToken = nil
        let purpose = TokenPurpose.update(activityID: cards[index].activityID)
        guard end.at > now else {
            purposes[token] = nil
            effects.append(.tokenRetired(token, purpose, end))
            return
        }
        dyingTokens.append(DyingToken(token: token, purpose: purpose, end: end))
    }

    /// Tells Apple of the tokens whose time is over.
    mutating func retireDyingTokens(at now: WallInstant, _ effects: inout [PhoneEffect]) {
        guard dyingTokens.contains(where: { $0.end.at <= now }) else { return }
        for dying in dyingTokens where dying.end.at <= now {
            purposes[dying.token] = nil
            // It may be of a card that lives on.
            for index in cards.indices where cards[index].updateToken == dying.token {
                cards[index].updateToken = nil
            }
            effects.append(.tokenRetired(dying.token, dying.purpose, dying.end))
        }
        dyingTokens.removeAll { $0.end.at <= now }
    }
}
