/// The relay's own channels of one lane: for cards that need no update token.
struct ChannelPool: Sendable {
    /// Kept free, so that a start need not wait for one.
    static let freeMin = 2
    /// Apple allows 10,000 for each app and environment; the rest is for named ones.
    static let countMax = 9_500
    /// After a refusal Apple is not asked again for so long.
    static let refusalTime = Span.minutes(10)

    /// Channels that no activity uses, those that rest longest last, with the steady time until
    /// which cards of the activity before may be there.
    private var free: [(slot: DeviceSlot, restsUntil: Instant)] = []
    private(set) var count = 0
    private var isAsked = false
    private var refusedUntil = Instant.distantPast
    /// Cards that wait for a channel, those that came first before the others; each once.
    private var waiting = TurnQueue<CardSlot>()
    private var members: Set<CardSlot> = []
    /// The last that stopped waiting.
    private var lastServed: CardSlot?

    mutating func made(_ slot: DeviceSlot) {
        isAsked = false
        count += 1
        free.insert((slot, .distantPast), at: 0)
    }

    mutating func refused(now: Instant) {
        isAsked = false
        refusedUntil = now + Self.refusalTime
    }

    mutating func recovered(_ slot: DeviceSlot, isUsed: Bool, restsUntil: Instant) {
        count += 1
        if !isUsed { free.append((slot, restsUntil)) }
    }

    /// A channel that may be used again once it has rested.
    mutating func release(_ slot: DeviceSlot, restsUntil: Instant) {
        free.append((slot, restsUntil))
    }

    // MARK: Cards that wait

    /// A card waits for a channel. One that has just stopped keeps its place before the others.
    mutating func wait(_ slot: CardSlot) {
        guard members.insert(slot).inserted else { return }
        if slot == lastServed { waiting.putFirst(slot) } else { waiting.append(slot) }
        lastServed = nil
    }

    /// Who has waited longest waits no more.
    mutating func popWaiting() -> CardSlot? {
        lastServed = waiting.popFirst()
        if let lastServed { members.remove(lastServed) }
        return lastServed
    }

    // MARK: Channels that rest

    /// One that has rested.
    mutating func take(now: Instant) -> DeviceSlot? {
        guard let place = free.firstIndex(where: { $0.restsUntil <= now }) else { return nil }
        return free.remove(at: place).slot
    }

    /// The one that `take` would give.
    func next(now: Instant) -> DeviceSlot? { free.first { $0.restsUntil <= now }?.slot }

    /// Whether Apple is to be asked for another one now. At most one is asked for at a time.
    mutating func asks(now: Instant) -> Bool {
        guard !isAsked, rested(now: now) < Self.freeMin, count < Self.countMax,
            refusedUntil <= now
        else {
            return false
        }
        isAsked = true
        return true
    }

    /// Whether one may come soon.
    var isComing: Bool { isAsked }

    /// How many have rested, as far as `freeMin`.
    private func rested(now: Instant) -> Int {
        free.lazy.filter { $0.restsUntil <= now }.prefix(Self.freeMin).count
    }
}
