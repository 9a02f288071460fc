/// What waits for a place in one upstream, with the same urgency. Each change costs O(1), but
/// `forgetTried`, which costs as much as one device has waiting and as devices wait.
struct WaitingRoom: Sendable {
    struct Waiting: Equatable, Sendable {
        var turn: UpstreamTurn
        var device: DeviceSlot
    }

    /// What is of devices that were not tried, and what nobody has looked at since they were.
    private var fresh = TurnQueue<Waiting>()
    /// What is of devices whose tokens Apple has refused for topic or environment.
    private var tried: [DeviceSlot: TurnQueue<UpstreamTurn>] = [:]
    /// The devices in `tried`, in the order of their turns.
    private var order = TurnQueue<DeviceSlot>()
    private var triedCount = 0

    var count: Int { fresh.count + triedCount }

    mutating func seat(_ waiting: Waiting, isTried: Bool) {
        guard isTried else { return fresh.append(waiting) }
        if tried[waiting.device] == nil { order.append(waiting.device) }
        tried[waiting.device, default: TurnQueue()].append(waiting.turn)
        triedCount += 1
    }

    /// Removes and returns the first turn of a device that was not tried; nil if there is none. If
    /// the first one is of a tried device, it moves to the tried ones.
    mutating func popFresh(besides strangers: Set<DeviceSlot>) -> NextWaiting? {
        guard let first = fresh.popFirst() else { return nil }
        guard strangers.contains(first.device) else { return .turn(first.turn) }
        seat(first, isTried: true)
        return .moved
    }

    /// Removes and returns a turn of the tried device that has the next one.
    mutating func popTried() -> UpstreamTurn? {
        guard let device = order.popFirst(), let turn = tried[device]?.popFirst() else {
            return nil
        }
        triedCount -= 1
        if tried[device]?.isEmpty == true { tried[device] = nil } else { order.append(device) }
        return turn
    }

    /// Removes and returns what has waited longest, but what is of tried devices comes last.
    mutating func popAny() -> UpstreamTurn? { fresh.popFirst()?.turn ?? popTried() }

    /// Moves what is of a device to those that were not tried: it has another token, or is gone.
    mutating func forgetTried(_ device: DeviceSlot) {
        guard var turns = tried.removeValue(forKey: device) else { return }
        _ = order.remove(device)
        while let turn = turns.popFirst() {
            triedCount -= 1
            fresh.append(Waiting(turn: turn, device: device))
        }
    }
}

/// What comes next at an upstream.
enum NextWaiting: Sendable {
    case turn(UpstreamTurn)
    /// It moved behind the others.
    case moved
}
