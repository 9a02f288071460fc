import TomboloJSON

/// Applying a push: start, update, end.
extension Phone {
    mutating func apply(
        _ push: AcceptedPush, mayWait: Bool, at now: WallInstant, _ effects: inout [PhoneEffect]
    ) throws(Ignored) {
        switch purposes[push.token] {
        case .startType(let type):
            if mayWait, delayStart(push, at: now) { return }
            try start(push, type: type, at: now, &effects)
        case .card(let number):
            guard let index = cards.firstIndex(where: { $0.number == number }) else {
                throw Ignored(.activityEnded, "dismissed")
            }
            try spend(push, on: index, at: now, &effects)
            try change(index, by: push, at: now, &effects)
        case .surface(let surface):
            try reload(surface, push, at: now, &effects)
        case nil:
            throw Ignored(.wrongToken, "no such token on this phone")
        }
    }

    private mutating func start(
        _ push: AcceptedPush, type: String, at now: WallInstant, _ effects: inout [PhoneEffect]
    ) throws(Ignored) {
        let payload = try ActivityPayload(push.payload)
        guard payload.event == .start else {
            throw Ignored(.wrongToken, "\(payload.event.rawValue) at a push-to-start token")
        }
        let (state, attributes) = try checkStart(payload, type: type, at: now)
        if let date = Self.instant(payload.staleDate), date + Self.staleAtStartMax <= now {
            throw Ignored(.staleDateNotInFuture, "a card that begins so old is not shown")
        }
        try checkPhone(push, payload, at: now)
        var card = ActivityCard(
            number: nextCardNumber, attributesType: type,
            activityID: attributes["activity_id"]?.string, contentState: [UInt8](state.raw),
            timestamp: payload.timestamp, at: now)
        nextCardNumber += 1
        card.alert = payload.alert
        card.budget = configuration.updateBudget.map {
            TokenBucket(depth: $0.depth, perHour: $0.perHour, at: now)
        }
        card.channelID = payload.inputPushChannel
        if payload.inputPushChannel == nil { card.updateTokenDueAt = updateTokenDueAt(card, now) }
        drawnCount += 1
        noteDate(payload.staleDate, push, at: now, &effects)
        noteStale(payload, push, at: now, &effects)
        noteStrangeDate(state, type, push, at: now, &effects)
        if card.activityID == nil { note(Ignored(.activityIDUnknown), push, at: now, &effects) }
        card.staleAt = Self.instant(payload.staleDate)
        cards.append(card)
        effects.append(.changed(card, .shown))
        effects += advance(to: now)
    }

    /// A start whose stale date passed this long ago shows no card (measured on a phone).
    private static let staleAtStartMax: Duration = .seconds(30 * 60)

    /// Throws if the phone's own state prevents an activity from starting.
    private mutating func checkPhone(
        _ push: AcceptedPush, _ payload: ActivityPayload, at now: WallInstant
    ) throws(Ignored) {
        if push.startsOnUnknownChannel {
            throw Ignored(.channelUnknown, payload.inputPushChannel ?? "")
        }
        if isTerminated { throw Ignored(.appTerminated) }
        if trouble.kinds.contains(.startTokenSilent) { throw Ignored(.startTokenSilent) }
        if trouble.kinds.contains(.lowPower) { throw Ignored(.lowPower) }
        guard starts.take(configuration.startBudget, at: now) else {
            throw Ignored(.startOverBudget)
        }
        guard cards.count < Self.cardsMax else { throw Ignored(.tooManyActivities) }
    }

    /// When the app gets the update token of a started card; nil if it waits for "Allow".
    private func updateTokenDueAt(_ card: ActivityCard, _ now: WallInstant) -> WallInstant? {
        if lacksUpdateToken(card: card.number) { return nil }
        return switch configuration.updateTokens {
        case .atOnce: now
        case .after(let delay): now + delay
        case .never: nil
        }
    }

    private func checkStart(
        _ payload: ActivityPayload, type: String, at now: WallInstant
    ) throws(Ignored) -> (state: JSONView, attributes: JSONView) {
        guard payload.hasAlert else { throw Ignored(.alertMissing) }
        guard let givenType = payload.attributesType, let attributes = payload.attributes else {
            throw Ignored(.attributesMissing)
        }
        guard givenType == type else {
            throw Ignored(.attributesTypeMismatch, "\(givenType), but the token is for \(type)")
        }
        guard attributes.kind == .object else { throw Ignored(.attributesDoNotDecode) }
        if payload.inputPushChannel != nil, configuration.osMajor < 18 {
            throw Ignored(.channelNeedsNewerOS, "input-push-channel on iOS \(configuration.os)")
        }
        try Self.checkLead(payload.timestamp, at: now)
        return (try decodable(payload.contentState, type: type), attributes)
    }

    mutating func change(
        _ index: Int, by push: AcceptedPush, at now: WallInstant, _ effects: inout [PhoneEffect]
    ) throws(Ignored) {
        let payload = try ActivityPayload(push.payload)
        if cards[index].isOver { throw Ignored(.activityEnded, cards[index].phase.name) }
        switch payload.event {
        case .start: throw Ignored(.wrongToken, "start at an update token")
        case .update: try update(index, payload, push, at: now, &effects)
        case .end: try end(index, payload, push, at: now, &effects)
        }
    }

    private mutating func update(
        _ index: Int, _ payload: ActivityPayload, _ push: AcceptedPush, at now: WallInstant,
        _ effects: inout [PhoneEffect]
    ) throws(Ignored) {
        let timestamp = payload.timestamp
        if timestamp < cards[index].timestamp {
            throw Ignored(
                .timestampOlderThanShown, "\(timestamp), shown is \(cards[index].timestamp)")
        }
        // Use the age at the time when Apple accepted the push: the time during which Apple or the
        // phone kept it does not count.
        if WallInstant(seconds: timestamp) < push.acceptedAt - Self.updateAgeMax {
            throw Ignored(.timestampInThePast, "\(push.acceptedAt.seconds - timestamp) s ago")
        }
        try Self.checkLead(timestamp, at: now)
        let state = try decodable(payload.contentState, type: cards[index].attributesType)
        cards[index].timestamp = timestamp
        cards[index].alert = payload.alert ?? cards[index].alert
        noteStrangeDate(state, cards[index].attributesType, push, at: now, &effects)
        noteDate(payload.staleDate, push, at: now, &effects)
        noteStale(payload, push, at: now, &effects)
        cards[index].staleAt = Self.instant(payload.staleDate)
        let wasStale = cards[index].phase == .stale
        cards[index].phase = .active
        if cards[index].show([UInt8](state.raw), at: now) {
            effects.append(.changed(cards[index], .shown))
        } else if wasStale {
            effects.append(.changed(cards[index], .active))
        }
        draw(index, at: now, &effects)
        effects += advance(to: now)
    }

    /// Applies an `end`, even if its timestamp is old. Without a content state the last one stays.
    private mutating func end(
        _ index: Int, _ payload: ActivityPayload, _ push: AcceptedPush, at now: WallInstant,
        _ effects: inout [PhoneEffect]
    ) throws(Ignored) {
        if payload.contentState != nil {
            let state = try decodable(
                payload.contentState, type: cards[index].attributesType)
            _ = cards[index].show([UInt8](state.raw), at: now)
        }
        cards[index].alert = payload.alert ?? cards[index].alert
        noteDate(payload.dismissalDate, push, at: now, &effects)
        cards[index].timestamp = max(cards[index].timestamp, payload.timestamp)
        let latest = now + ActivityCard.endedTimeMax
        let until = max(now, min(latest, Self.instant(payload.dismissalDate) ?? latest))
        cards[index].phase = .ended(until: until)
        windows.end(card: cards[index].number)
        effects.append(.changed(cards[index], .ended))
        draw(index, at: now, &effects)
        effects += advance(to: now)
    }

    private func decodable(_ state: JSONView?, type: String) throws(Ignored) -> JSONView {
        guard let state else { throw Ignored(.contentStateMissing) }
        let shape = configuration.shapes[type] ?? .object([])
        if let fault = shape.fault(in: state) { throw Ignored(.contentStateDoesNotDecode, fault) }
        // The app has the value that it decoded, and reports that.
        let isWhole = configuration.registeredTypes.contains(type)
        return JSON(unchecked: shape.encoded(state, isWhole: isWhole)).document.root
    }

    private static func checkLead(_ timestamp: Int64, at now: WallInstant) throws(Ignored) {
        guard WallInstant(seconds: timestamp) <= now + timestampLeadMax else {
            throw Ignored(.timestampTooFarAhead, "\(timestamp - now.seconds) s ahead")
        }
    }

    private mutating func noteDate(
        _ date: ActivityPayload.DateField, _ push: AcceptedPush, at now: WallInstant,
        _ effects: inout [PhoneEffect]
    ) {
        if date == .notWholeSeconds { note(Ignored(.dateNotWholeSeconds), push, at: now, &effects) }
    }

    private mutating func noteStale(
        _ payload: ActivityPayload, _ push: AcceptedPush, at now: WallInstant,
        _ effects: inout [PhoneEffect]
    ) {
        guard let instant = Self.instant(payload.staleDate), instant <= now else { return }
        note(Ignored(.staleDateNotInFuture), push, at: now, &effects)
    }

    private mutating func noteStrangeDate(
        _ state: JSONView, _ type: String, _ push: AcceptedPush, at now: WallInstant,
        _ effects: inout [PhoneEffect]
    ) {
        guard let place = configuration.shapes[type]?.strangeDate(in: state) else { return }
        note(Ignored(.dateInAnotherEpoch, place), push, at: now, &effects)
    }

    private static func instant(_ date: ActivityPayload.DateField) -> WallInstant? {
        if case .second(let second) = date { WallInstant(seconds: second) } else { nil }
    }
}
