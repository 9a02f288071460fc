import TomboloJSON

/// Keeps a phone's cards over a restart of the simulator, because a real phone does not lose them.
extension Phone {
    /// Maximum number of cards that are kept for a phone: the newest ones.
    private static let keptCardsMax = 100

    /// Writes the phone's name and its cards, without dismissed ones.
    func keep(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("phone", configuration.name)
            writer.member("next_card", Int64(nextCardNumber))
            writer.array("cards") { writer in
                for card in cards.suffix(Self.keptCardsMax) where card.phase != .dismissed {
                    card.keep(to: &writer)
                }
            }
        }
    }

    /// Restores what `keep` wrote, before the phone is used: the cards and their tokens, which are
    /// announced again to Apple and the app. Unreadable cards are left out.
    mutating func restore(_ kept: JSONView, at now: WallInstant) -> [PhoneEffect] {
        nextCardNumber = Int.kept(kept["next_card"]) ?? 1
        var effects: [PhoneEffect] = []
        for view in kept["cards"].map({ $0.elements.map { $0 } }) ?? [] {
            guard var card = ActivityCard(kept: view),
                !cards.contains(where: { $0.number == card.number })
            else { continue }
            nextCardNumber = max(nextCardNumber, card.number + 1)
            card.budget = configuration.updateBudget.map {
                TokenBucket(depth: $0.depth, perHour: $0.perHour, at: now)
            }
            cards.append(card)
            effects.append(.changed(card, card.isOver ? .ended : .shown))
            guard let token = card.updateToken else { continue }
            purposes[token] = .card(card.number)
            effects.append(.tokenIssued(token, .update(activityID: card.activityID)))
        }
        return effects
    }
}

extension ActivityCard {
    fileprivate func keep(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("number", Int64(number))
            writer.member("type", attributesType)
            if let activityID { writer.member("activity", activityID) }
            if let alert { writer.member("alert", alert) }
            if let channelID { writer.member("channel", channelID) }
            if let updateToken { writer.member("token", updateToken) }
            if isDenied { writer.member("denied", true) }
            writer.member("timestamp", timestamp)
            writer.member("shown_count", Int64(shownCount))
            if case .ended(let until) = phase { writer.member("ended_until", until.nanoseconds) }
            let times: [(String, WallInstant?)] = [
                ("started_at", startedAt), ("shown_at", shownAt), ("stale_at", staleAt),
                ("allow_at", updateTokenDueAt),
            ]
            for (name, time) in times { if let time { writer.member(name, time.nanoseconds) } }
            writer.rawMember("state", contentState)
        }
    }

    fileprivate init?(kept view: JSONView) {
        func instant(_ name: String) -> WallInstant? {
            view[name]?.integer.map(WallInstant.init(nanoseconds:)).flatMap {
                (WallInstant(seconds: 0)...WallInstant(seconds: 9_000_000_000)).contains($0)
                    ? $0 : nil
            }
        }
        guard let number = Int.kept(view["number"]),
            let type = view["type"]?.string, let state = view["state"],
            let timestamp = view["timestamp"]?.integer, let startedAt = instant("started_at")
        else { return nil }
        self.init(
            number: number, attributesType: type, activityID: view["activity"]?.string,
            contentState: [UInt8](state.raw), timestamp: timestamp, at: startedAt)
        alert = view["alert"]?.string
        channelID = view["channel"]?.string
        updateToken = view["token"]?.string
        isDenied = view["denied"]?.bool ?? false
        shownCount = Int.kept(view["shown_count"]) ?? 1
        shownAt = instant("shown_at") ?? startedAt
        drawnAt = shownAt
        staleAt = instant("stale_at")
        updateTokenDueAt = instant("allow_at")
        if let until = instant("ended_until") {
            (phase, drawnPhase) = (.ended(until: until), .ended(until: until))
        }
    }
}

extension Int {
    /// A number from a file, which may have been edited; nil if it is implausible.
    fileprivate static func kept(_ value: JSONView?) -> Int? {
        value?.integer.flatMap { (1...1_000_000_000).contains($0) ? Int($0) : nil }
    }
}
