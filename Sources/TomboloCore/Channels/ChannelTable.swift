/// Finds broadcast channels. The channels themselves have slots in the device table.
struct ChannelTable: Sendable {
    private var byKey: [ChannelKey: DeviceSlot] = [:]
    private var pools: [UpstreamNumber: ChannelPool] = [:]
    private var nextNumber: Int64 = 1
    /// Upstreams whose waiting cards must be examined next.
    private var woken = TurnQueue<UpstreamNumber>()

    init() {}

    func slot(of key: ChannelKey) -> DeviceSlot? { byKey[key] }

    mutating func set(_ key: ChannelKey, _ slot: DeviceSlot?) { byKey[key] = slot }

    // MARK: Waking

    /// Wakes the cards that wait for a channel of this upstream, after Apple has made or refused
    /// one. The core examines them in turn until one of them must wait again.
    mutating func wake(_ upstream: UpstreamNumber) {
        if !woken.contains(upstream) { woken.append(upstream) }
    }

    /// Adds a card that waits for a channel of its upstream. The upstream's other cards are not
    /// examined any more.
    mutating func wait(_ slot: CardSlot, at upstream: UpstreamNumber) {
        self[upstream].wait(slot)
        _ = woken.remove(upstream)
    }

    var hasWoken: Bool { !woken.isEmpty }

    mutating func popWoken() -> CardSlot? {
        while let upstream = woken.first {
            if let slot = self[upstream].popWaiting() { return slot }
            _ = woken.popFirst()
        }
        return nil
    }

    // MARK: Numbers

    /// The number of the next channel.
    var coming: Int64 { nextNumber }

    /// Makes sure that no channel gets this number or a lower one.
    mutating func skip(_ number: Int64) { nextNumber = max(nextNumber, number + 1) }

    /// The relay's own channels of one upstream.
    subscript(upstream: UpstreamNumber) -> ChannelPool {
        get { pools[upstream] ?? ChannelPool() }
        _modify { yield &pools[upstream, default: ChannelPool()] }
    }
}
