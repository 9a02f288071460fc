import TomboloCrypto

/// The tokens of a phone: the system issues them, the app reports them, and they expire.
extension Phone {
    /// A token that is no longer used. Apple accepts its pushes until `end`.
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
        guard configuration.startsByPush else { return [] }
        let isSilent = trouble.kinds.contains(.startStreamSilent)
        return configuration.attributesTypes.map { type in
            let issued = issue(type, .startType(type), .start(attributesType: type))
            guard isSilent, case .tokenIssued(let token, let purpose) = issued else {
                return issued
            }
            return .tokenIssuedSilently(token, purpose)
        }
    }

    /// The app is opened. It reads the push-to-start tokens of which the system did not tell it.
    mutating func readStartTokens() -> [PhoneEffect] {
        guard trouble.kinds.contains(.startStreamSilent), configuration.startsByPush else {
            return []
        }
        return configuration.attributesTypes.map { type in
            issue(type, .startType(type), .start(attributesType: type))
        }
    }

    /// Issues a token that survives a restart.
    private mutating func issue(
        _ name: String, _ purpose: Purpose, _ reported: TokenPurpose
    ) -> PhoneEffect {
        var seed = configuration.startTokenSeed + [UInt8]("\(configuration.name) \(name)".utf8)
        if installations > 1 { seed += [UInt8](" \(installations)".utf8) }
        let token = Self.token(seed)
        purposes[token] = purpose
        return .tokenIssued(token, reported)
    }

    /// The user deletes the app and installs it again. All cards disappear, all tokens become
    /// invalid, and the app gets new ones at launch. Budgets stay, because they belong to the
    /// system.
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
        // Deleting the app removes its widgets.
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

    /// Issues the next update token: 64 bytes, longer than a device token.
    mutating func makeUpdateToken() -> String {
        issuedTokens += 1
        return Self.token(
            configuration.updateTokenSeed + [UInt8]("\(configuration.name) \(issuedTokens)".utf8))
    }

    private static func token(_ seed: [UInt8]) -> String {
        Hex.encode(SHA256.digest(seed + [0]) + SHA256.digest(seed + [1]))
    }

    /// True if this card gets no update token. The phone's seed decides this at random.
    func lacksUpdateToken(card number: Int) -> Bool {
        guard trouble.noUpdateToken > 0 else { return false }
        return chance("token \(number)") < trouble.noUpdateToken
    }

    /// A random number from 0 up to, but not including, 1. The seed and the name determine it.
    func chance(_ name: String) -> Double {
        let digest = SHA256.digest(
            configuration.updateTokenSeed + [UInt8]("\(configuration.name) \(name)".utf8))
        return digest.prefix(4).reduce(0) { ($0 + Double($1)) / 256 }
    }

    // MARK: - Retirement

    /// Retires a card's token. Apple accepts its pushes until `end.at`.
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

    /// Retires at Apple the tokens whose `end` has passed.
    mutating func retireDyingTokens(at now: WallInstant, _ effects: inout [PhoneEffect]) {
        guard dyingTokens.contains(where: { $0.end.at <= now }) else { return }
        for dying in dyingTokens where dying.end.at <= now {
            purposes[dying.token] = nil
            // The card with this token may still be active.
            for index in cards.indices where cards[index].updateToken == dying.token {
                cards[index].updateToken = nil
            }
            effects.append(.tokenRetired(dying.token, dying.purpose, dying.end))
        }
        dyingTokens.removeAll { $0.end.at <= now }
    }
}
