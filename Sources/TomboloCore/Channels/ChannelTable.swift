/// How broadcast channels are found. A channel itself has a place among the devices.
struct ChannelTable: Sendable {
    private var byKey: [ChannelKey: DeviceSlot] = [:]
    private var pools: [LaneNumber: ChannelPool] = [:]
    private var nextNumber: Int64 = 1
    /// Upstreams whose waiting cards are looked at next.
    private var woken = TurnQueue<LaneNumber>()

    init() {}

    /// The place of a named channel.
    func slot(of key: ChannelKey) -> DeviceSlot? { byKey[key] }

    /// A named channel has a place (or with nil, none any more).
    mutating func set(_ key: ChannelKey, _ slot: DeviceSlot?) { byKey[key] = slot }

    // MARK: Waking

    /// A channel has come, or none comes for now: the cards that wait for one are looked at, until
    /// one of them has to wait again.
    mutating func wake(_ lane: LaneNumber) {
        if !woken.contains(lane) { woken.append(lane) }
    }

    /// A card waits for a channel of its upstream, and those behind it wait on.
    mutating func wait(_ slot: CardSlot, at lane: LaneNumber) {
        self[lane].wait(slot)
        _ = woken.remove(lane)
    }

    var hasWoken: Bool { !woken.isEmpty }

    /// The next card that is looked at.
    mutating func popWoken() -> CardSlot? {
        while let lane = woken.first {
            if let slot = self[lane].popWaiting() { return slot }
            _ = woken.popFirst()
        }
        return nil
    }

    // MARK: Numbers

    /// The number that the next channel gets.
    var coming: Int64 { nextNumber }

    /// No channel gets this number, or a lower one, any more.
    mutating func skip(_ number: Int64) { nextNumber = max(nextNumber, number + 1) }

    /// The relay's own channels of an app in one environment.
    subscript(lane: LaneNumber) -> ChannelPool {
        get { pools[lane] ?? ChannelPool() }
        _modify { yield &pools[lane, default: ChannelPool()] }
    }
}
