/// The relay's own channels of one upstream, for cards without update tokens.
struct ChannelPool: Sendable {
    /// Number of free channels to keep ready, so that a start need not wait.
    static let freeMin = 2
    /// Maximum of channels in the pool. Apple allows 10,000 for each app and environment; the other
    /// 500 are left for named channels.
    static let countMax = 9_500
    /// Wait time after a refusal before Apple is asked again.
    static let refusalTime = Span.minutes(10)

    /// Channels without an activity; released ones come last. `restsUntil` is the monotonic time
    /// until which cards of the former activity may still listen.
    private var free: [(slot: DeviceSlot, restsUntil: Instant)] = []
    private(set) var count = 0
    private var isAsked = false
    private var refusedUntil = Instant.distantPast
    /// Cards that wait for a channel, in order of arrival, each once.
    private var waiting = TurnQueue<CardSlot>()
    private var members: Set<CardSlot> = []
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

    /// Returns a channel to the pool. Another activity may get it after `restsUntil`.
    mutating func release(_ slot: DeviceSlot, restsUntil: Instant) {
        free.append((slot, restsUntil))
    }

    // MARK: Waiting cards

    /// Adds a waiting card at the end. The card that `popWaiting` has just returned goes to the
    /// front.
    mutating func wait(_ slot: CardSlot) {
        guard members.insert(slot).inserted else { return }
        if slot == lastServed { waiting.putFirst(slot) } else { waiting.append(slot) }
        lastServed = nil
    }

    /// Takes the card that has waited longest.
    mutating func popWaiting() -> CardSlot? {
        lastServed = waiting.popFirst()
        if let lastServed { members.remove(lastServed) }
        return lastServed
    }

    // MARK: Resting channels

    /// Takes a channel whose rest is over.
    mutating func takeChannel(now: Instant) -> DeviceSlot? {
        guard let place = free.firstIndex(where: { $0.restsUntil <= now }) else { return nil }
        return free.remove(at: place).slot
    }

    /// The channel that `take` would return.
    func next(now: Instant) -> DeviceSlot? { free.first { $0.restsUntil <= now }?.slot }

    /// True if Apple should be asked for another channel now; only one request runs at a time.
    mutating func asks(now: Instant) -> Bool {
        guard !isAsked, rested(now: now) < Self.freeMin, count < Self.countMax,
            refusedUntil <= now
        else {
            return false
        }
        isAsked = true
        return true
    }

    /// True while a request to Apple is running.
    var isComing: Bool { isAsked }

    /// Number of channels whose rest is over, at most `freeMin`.
    private func rested(now: Instant) -> Int {
        free.lazy.filter { $0.restsUntil <= now }.prefix(Self.freeMin).count
    }
}
