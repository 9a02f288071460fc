import TestSupport
import TomboloCore
import TomboloLoop

// The system ends a card some hours after it began; before that a new one may take its place (rule
// 13). In these worlds a life is minutes, for phones and relay alike.

/// How long cards live in a world.
struct CardLife {
    var length: Duration
    var renewBefore: Duration
    var strandedAfter: Duration

    static let ofHours = [20, 35, 50]
    /// Three such lives, and more, are over before the world is.
    static let ofMonths = [10, 12, 15]

    init(_ dice: inout Dice, _ choices: [Int]) {
        let minutes = dice.pick(.plan, choices)
        length = .seconds(minutes * 60)
        renewBefore = length / 4
        strandedAfter = length / 8
    }

    func apply(to limits: inout Limits) {
        limits.cardLife = Span(nanoseconds: length.nanoseconds)
        limits.renewBefore = Span(nanoseconds: renewBefore.nanoseconds)
        limits.lastOfCard = Span(nanoseconds: renewBefore.nanoseconds / 2)
        limits.strandedAfter = Span(nanoseconds: strandedAfter.nanoseconds)
    }
}

extension World {
    /// A card begins: it has its time.
    func age(_ card: Card, _ phone: Phone) {
        card.beganAt = loop.now
        guard let life = plan.cardLife else { return }
        after(life.length) { [self] in
            guard phone.cards[card.reference] === card, !card.isDismissed, !card.hasEnded else {
                return
            }
            checkSuccessor(of: card, phone, life)
            card.hasEnded = true
            card.isLapsed = true
            note(.lapsed, who: phone.number, 0, 0, card.reference.text)
            // The app learns it, and half of them say so.
            if dice.happens(.phones, oneIn: 2) {
                report("{\"phase\":\"ended\",\"by\":\"system\"}", card, phone, isRetried: true)
            }
        }
    }

    /// The card that took this one's place.
    func successor(of card: Card, _ phone: Phone) -> Card? {
        phone.cards[card.reference.renewed]
    }

    /// Whether the relay may hold it for over: it counts from the start, the phone from its
    /// arrival.
    func isNearEnd(_ card: Card, _ phone: Phone) -> Bool {
        let length = plan.cardLife?.length ?? Self.dayOfCard
        let start = outboxes[key(phone, card.reference)]?.sends.last { $0.event == .start }?.at
        // A log that was put back may take it for the card of an installation before.
        let earlier = restoredAt == nil ? nil : firstStart(of: card.reference, on: phone)
        let since = [card.beganAt, start, earlier].compactMap { $0 }.min() ?? card.beganAt
        let age = loop.now - since + ageByReboots(after: since)
        return card.isLapsed || age > length - .seconds(30)
    }

    private func firstStart(of reference: ActivityReference, on phone: Phone) -> MonotonicInstant? {
        guard phone.installation > 1 else { return nil }
        return outboxes.filter { $0.key.phone == phone.number && $0.key.reference == reference }
            .compactMap { $0.value.sends.first { $0.event == .start }?.at }.min()
    }

    /// Whether a card that has ended has left the screen too: 4 hours after its end at the latest,
    /// half of what a card lives.
    func isRemoved(_ card: Card) -> Bool {
        guard card.hasEnded, let life = plan.cardLife else { return false }
        return loop.now - card.beganAt > life.length * 3 / 2
    }

    private func ageByReboots(after since: MonotonicInstant) -> Duration {
        agedByReboots.reduce(.zero) { $1.at > since ? $0 + $1.by : $0 }
    }

    /// The life of a card where the world has no shorter one.
    private static let dayOfCard = Duration.seconds(8 * 3_600)

    /// A machine comes back from a reboot: how long it was off only the wall clock tells, and what
    /// that clock was set forward by since the last life that has left anything on record counts
    /// as time in which cards grew older.
    func ageByReboot() {
        let (boot, offset) = (clock.boot, clock.offset.nanoseconds)
        if boot != recordedStart.boot {
            let more = Duration.nanoseconds(max(0, offset - recordedStart.offset))
            if more > .zero { agedByReboots.append((loop.now, more)) }
        }
        start = (boot, offset)
    }

    // MARK: Checkers

    /// Looks at a push for a card by its age.
    func ageFaults(
        _ event: Push.Event, _ key: CardKey, _ outbox: Outbox, _ phone: Phone
    ) -> [(Promise, String)] {
        guard let life = plan.cardLife, faults.isDisjoint(with: .clockwork) else { return [] }
        let isFirst = !outbox.sends.contains { $0.event == .start }
        if event == .start, isFirst, let before = key.reference.renewedFrom {
            return renewalFaults(before, key, phone, life)
        }
        guard event == .update, let card = phone.cards[key.reference] else { return [] }
        let start = outbox.sends.last { $0.event == .start && $0.counts }?.at
        // A token that comes later is a sign that it still lives.
        guard let since = [start, card.toldAt].compactMap({ $0 }).max() else { return [] }
        let age = loop.now - since
        return age > life.length + .seconds(15) ? [(.lapsed, "\(age) after its start")] : []
    }

    private func renewalFaults(
        _ before: ActivityReference, _ key: CardKey, _ phone: Phone, _ life: CardLife
    ) -> [(Promise, String)] {
        var faults: [(Promise, String)] = []
        let model = reference.model(tenant: phone.tenant, id: before.id.rawValue)?.1
        // Who comes back to a phone gets a new card.
        guard phone.changedHandsAt == nil, !phone.wasDeleted else { return [] }
        if model?.isRenewed != true { faults.append((.renewal, "nobody asked for it")) }
        // Of an app that was deleted the relay may not have heard: to it the card is the old app's.
        guard phone.installation == 1 else { return faults }
        guard let card = phone.cards[before] else {
            return faults + [(.renewal, "there was no card before it")]
        }
        if card.dismissalKnownIn == lives { faults.append((.renewal, "after a dismissal")) }
        let start = outboxes[self.key(phone, before)]?.sends.first { $0.event == .start }?.at
        let age = loop.now - min(card.beganAt, start ?? card.beganAt)
        if age < life.length - life.renewBefore - .seconds(15) {
            faults.append((.renewal, "after \(age) of \(life.length)"))
        }
        return faults
    }

    /// A card whose end has come and that was to be renewed has a successor, where all was calm.
    private func checkSuccessor(of card: Card, _ phone: Phone, _ life: CardLife) {
        let due = loop.now - life.renewBefore - .seconds(60)
        guard faults.isDisjoint(with: [.holding, .clockwork, .unsteadyTokens]),
            card.isRegistered, card.registeredSince < due, lastTrouble < due, !card.isTokenless,
            card.channel == nil, !card.wasRefused,
            let (_, model) = reference.model(
                tenant: phone.tenant, id: card.reference.id.rawValue),
            model.isRenewed, !model.isAdopted, !model.hasEnded,
            model.incarnation == card.reference.incarnation,
            outboxes[key(phone, card.reference.renewed)] == nil
        else { return }
        let starts = outboxes.filter { $0.key.phone == phone.number }
            .flatMap(\.value.sends).count { $0.event == .start && $0.counts }
        // One that was paid for and not sent may have been lost with each life.
        guard starts + lives < plan.configuration.budgets[.start].burst else { return }
        violated(.renewal, "phone \(phone.number) \(card.reference.text) has no successor")
    }

    /// Of two cards of one incarnation only the newer stays, once it can be updated.
    func checkPlaceTaken(_ card: Card, _ phone: Phone) {
        guard let next = successor(of: card, phone), next.isRegistered, !next.isStranded,
            // Whether it listens on a channel only its phone could tell.
            next.channel == nil,
            loop.now - next.registeredSince > .seconds(30), !next.isDismissed,
            // Its end may be over for the relay: a clock was set right while the machine was off.
            !isNearEnd(card, phone),
            !card.hasEnded, !card.hasLostEnd, !card.wasRefused, !card.isUnnamed
        else { return }
        violated(
            .renewal,
            "phone \(phone.number) \(card.reference.text) still runs beside its successor")
    }
}

extension ActivityReference {
    /// Of the next card of the same incarnation.
    var renewed: ActivityReference {
        ActivityReference(id: id, incarnation: incarnation, renewal: renewal + 1)
    }

    /// Of the card before; nil of a first one.
    var renewedFrom: ActivityReference? {
        renewal == 0
            ? nil : ActivityReference(id: id, incarnation: incarnation, renewal: renewal - 1)
    }
}

extension FaultSet {
    /// Those that move clocks, or what a log knows of times.
    static let clockwork = [
        Fault.wallSteps, .suspends, .reboots, .restores, .wrongClock,
    ].reduce(into: FaultSet()) { $0.insert(FaultSet($1)) }

    /// Those with which a card may be without a route for a while.
    static let unsteadyTokens = [
        Fault.rotation, .lateTokens, .reordered, .oldTokens, .startTokens, .deletions,
        .missingTokens, .offline, .types, .deletedDevices, .changedUsers,
        .secondIDs,
    ].reduce(into: FaultSet()) { $0.insert(FaultSet($1)) }
}
