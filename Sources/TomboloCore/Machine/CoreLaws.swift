/// The laws that a whole core keeps between two inputs. Only simulations and tests check them. A
/// check looks at each card, device and token.
package struct CoreLaws: Sendable {
    /// What must not be, as it appears in a sentence.
    enum Law: String, CaseIterable, Sendable {
        case oneName = "another card of the device has its name"
        case oneHolder = "another device has its token"
        case live = "live without a token or a channel"
        case waiting = "waiting with a token or a push in flight"
        case finished = "finished with a kept place or a later push in flight"
        case sleep = "waits and nothing wakes it"
        case bound = "its deadline is later than the end of its wait"
        case queue = "has free places and pushes that wait, and nothing wakes it"
        case version = "knows a version that is not durable"
        case incarnation = "is of an incarnation that is not durable"
        case succession = "has a route, and the card before it has no end"
        case reservation = "holds something without a reservation"
        case budget = "counts other reservations than its cards have"
        case row = "has a changed row that no batch writes"
        case arrow = "changed its phase along no arrow"
        case day = "has a steady time that is more than a day ahead"
        case key = "another row has its key"
    }

    private var phases: [Int64: Destination.Phase] = [:]
    private var (broken, names, numbers): ([String], Set<String>, Set<Int64>) = ([], [], [])
    private var startsHeld: [DeviceSlot: Int32] = [:]

    package init() {}

    /// Checks all laws. The laws about changes apply to the time since the last call.
    ///
    /// - Parameter now: the monotonic time of the core's last input.
    /// - Returns: a sentence for each law that does not hold.
    package mutating func broken(in core: borrowing Core, now: Instant) -> [String] {
        (broken, names, numbers, startsHeld) = ([], [], [], [:])
        for slot in core.destinations.indices {
            guard let card = core.destinations.at(slot) else { continue }
            let device = core.devices[card.device]?.key.id.rawValue ?? "?"
            let name = "\(device) \(core.reference(card).text)"
            startsHeld[card.device, default: 0] += card[.holdsStartToken] ? 1 : 0
            checkCard(slot, card, name, core, now: now)
            checkSleep(slot, card, name, core)
        }
        checkDevices(core, now: now)
        for number in core.upstreams.numbers {
            let upstream = core.upstreams[number]
            let isAwake = core.upstreams.firstWoken != nil || upstream.probeAt != nil
            let name = "upstream \(number.rawValue)"
            demand(isAwake || !upstream.hasWaiting || !upstream.isOpen(now: now), .queue, name)
            demand([upstream.parkedUntil], before: now + .hours(24), name)
        }
        return broken
    }

    private mutating func demand(_ holds: Bool, _ law: Law, _ subject: String) {
        if !holds { broken.append("\(subject): \(law.rawValue)") }
    }

    private mutating func demand(_ times: [Instant?], before most: Instant, _ subject: String) {
        demand(times.allSatisfy { $0 ?? .distantPast <= most }, .day, subject)
    }

    private mutating func checkCard(
        _ slot: CardSlot, _ card: Destination, _ name: String, _ core: borrowing Core, now: Instant
    ) {
        demand(names.insert("\(card.device.place) \(name)").inserted, .oneName, name)
        demand(card.phase != .live || card.token != nil, .live, name)
        // A token of a card that may be over is kept, and does not make the card live (rule 5).
        let mayBeKept = card.isOverOnPhone || card.cardSince != nil
        let isBare = card.inFlight == nil && (card.token == nil || mayBeKept)
        demand(card.phase != .waiting || isBare, .waiting, name)
        // A push cannot be taken back when its card is dismissed. A reservation ends with its
        // batch, and a turn in the queue is dropped when it comes. A refused start keeps
        // its token for a retry.
        let sentAt = card.inFlight.map { $0.until - core.configuration.limits.inFlightMax }
        let isLater = card.inFlight?.event != .end && sentAt ?? .distantPast > card.phaseSince
        let keepsStart = card[.holdsStartToken] && card.phase != .gone
        let keepsPlace = keepsStart || card[.keepsPlace] && card.reservation == .granted
        demand(!card.isFinished || !isLater && !keepsPlace, .finished, name)
        // A failed attempt keeps its token in the bucket without a reservation of its push.
        let isReserved = card[.keepsPlace] || card[.reservedStart] || card.reservedAlert != nil
        let paysStart = card[.holdsStartToken] || !card[.reservedStart] || card.phase != .waiting
        let hasPaid = !card.pacing.holdsToken || card.pacing.bucket.fullAt != .distantPast
        let isMade = card.reservation != .none || !isReserved
        demand(isMade && paysStart && hasPaid, .reservation, name)
        let before = phases.updateValue(card.phase, forKey: card.number) ?? card.phase
        let isArrow = before == card.phase || Self.arrows[before]?.contains(card.phase) == true
        demand(isArrow, .arrow, name)
        demand(numbers.insert(card.number).inserted, .key, name)
        let grant = core.grantInForce(slot).grant
        // A configured budget may refill more slowly than in a day, and starts wait for theirs. A
        // card that waits for nothing may have a deadline by a date of its producer.
        let refill = grant.perHour.map { Double(grant.burst) / $0 } ?? 0
        let isOfStarts = card.waiting?.reason == WaitReason.startBudget.name
        let isBound = !isOfStarts && card.waiting != nil
        let times = [
            isBound ? core.destinations.deadlines.at(slot) : nil, card.inFlight?.until,
            card.pacing.backOffUntil, card.pacing.lastSend, card.phaseSince,
        ]
        demand(times, before: now + .hours(24 + Int64(refill.rounded(.up))), name)
        let activity = core.activities[card.activity]
        let known = max(card.acknowledged, card.alertsThrough, card.ledger.decidedThrough)
        demand(known <= activity.durable?.version ?? 0, .version, name)
        demand(card.incarnation <= activity.durableIncarnation, .incarnation, name)
        demand(core.activities.slot(of: activity.key) == card.activity, .key, name)
        // A fact and its card go into one batch: a card that has no row yet is in the next batch.
        demand(!card[.checkpointIsDirty] || core.journal.writes(slot), .row, name)
        guard card.renewal > 0, card.phase == .live, !card.hasFinal else { return }
        for old in activity.destinations where card.isSuccessor(of: core.destinations[old]) {
            let isOver = core.destinations[old].isFinished
            demand(isOver || core.projection(old)?.ending != nil, .succession, name)
        }
    }

    /// Nobody sleeps unwatched. A finished card may: only the end's repetition is left.
    private mutating func checkSleep(
        _ slot: CardSlot, _ card: Destination, _ name: String, _ core: borrowing Core
    ) {
        guard !card.isFinished, let projection = core.projection(slot) else { return }
        let isInBatch = core.journal.wakes(slot, card)
        let isQueued = card[.isQueued] && core.upstreams[card.upstream].hasWaiting
        let isHeld = isInBatch || isQueued || core.destinations.woken.contains(slot)
        demand(isInBatch || card.reservation != .pending, .sleep, name)
        guard !isHeld else { return }
        let deadline = core.destinations.deadlines.at(slot)
        if let flying = card.inFlight {
            // An end does not wait for the push in flight.
            let isDue = deadline.map { $0 <= flying.until } ?? false
            return demand(isDue || projection.ending != nil, .bound, name)
        }
        guard case .deferred(let until, let reason)? = card.waiting else {
            let isDone = card.phase != .live || card.acknowledged >= projection.version
            return demand(isDone || deadline != nil, .sleep, name)
        }
        if let until { return demand(deadline.map { $0 <= until } ?? false, .bound, name) }
        let isPaused = core.areAlertsPaused(slot) || core.sweeps.dueAt != nil
        // The phone ends these waits. Only a first start has a bound.
        let isOfPhone = [.startToken, .updateToken, .stranded].contains(reason)
        let hasEnd = core.startWaitEnd(slot, now: .distantPast) != nil
        let isWoken = reason == .paused ? isPaused : isOfPhone && !hasEnd
        demand(deadline != nil || isWoken, .sleep, name)
    }

    private mutating func checkDevices(_ core: borrowing Core, now: Instant) {
        var holders: [TokenPlace: Int64] = [:]
        numbers = []
        for slot in core.devices.indices {
            guard let device = core.devices[slot] else { continue }
            let (name, number) = (device.key.id.rawValue, device.number)
            for (_, token) in device.tokens.all {
                let place = core.configuration.tokenPlace(of: token.value, device)
                let holder = place.flatMap { holders.updateValue(number, forKey: $0) } ?? number
                demand(holder == number, .oneHolder, name)
            }
            let budget = core.devices.budgets[slot]
            let kept = budget.keptFor.map { core.destinations.at($0)?[.keepsPlace] == true }
            let isSum = budget.startsHeld == startsHeld[slot, default: 0]
            demand(isSum && kept ?? true, .budget, name)
            let times = [core.devices.deadlines.at(slot), core.devices.orphanDeadlines.at(slot)]
            demand(times, before: now + .hours(24), name)
            guard device.channel == nil else { continue }
            // A device that is being deleted has no name.
            let isFound = device.leavingUntil != nil || core.devices.slot(of: device.key) == slot
            demand(numbers.insert(device.number).inserted && isFound, .key, name)
        }
    }

    /// The arrows of the drawing at `Destination`. A step may follow two of them by way of
    /// `waiting`: a start that was not sent meets the end of its activity.
    private static let arrows: [Destination.Phase: Set<Destination.Phase>] = [
        .waiting: [.starting, .started, .live, .listening, .ended, .gone, .lapsed],
        .starting: [.waiting, .startUnknown, .started, .live, .listening, .ended, .gone, .lapsed],
        .startUnknown: [.waiting, .started, .live, .listening, .ended, .gone, .lapsed],
        .started: [.live, .gone, .lapsed], .live: [.waiting, .started, .ended, .gone, .lapsed],
        .ended: [.live, .gone], .gone: [.waiting, .live, .ended, .lapsed],
        .lapsed: [.live, .gone], .listening: [.gone],
    ]
}

extension Core {
    /// The laws of the core that do not hold now, except those about changes: a sentence for each,
    /// such as "phone cat: live without a token or a channel". Empty if all hold.
    package func brokenLaws(now: Instant) -> [String] {
        var laws = CoreLaws()
        return laws.broken(in: self, now: now)
    }
}
