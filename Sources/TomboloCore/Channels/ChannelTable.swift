/// How broadcast channels are found. A channel itself has a place among the devices.
struct ChannelTable: Sendable {
    private var byKey: [ChannelKey: DeviceSlot] = [:]
    private var pools: [LaneNumber: ChannelPool] = [:]
    private var nextNumber: Int64 = 1

    init() {}

    /// The place of a named channel.
    func slot(of key: ChannelKey) -> DeviceSlot? { byKey[key] }

    /// A named channel has a place (or with nil, none any more).
    mutating func set(_ key: ChannelKey, _ slot: DeviceSlot?) { byKey[key] = slot }

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
