/// Lets so many begin in one turn of the loop. Those beyond wait in groups, and groups take turns:
/// sockets and timers are served between, and a group that asks a thousand times waits behind
/// itself.
///
/// On the loop only.
package final class TurnGate<Group: Hashable & Sendable>: TurnTarget, @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let perTurn: Int
    private let loop: any Loop
    /// How many may still begin in this turn.
    private var left: Int
    /// Those whose turn has come and that do not run yet: the next one's comes when one of them
    /// runs, or all would be in the loop's queue before what others do.
    private var waking = 0
    private static var wakingMax: Int { 2 }
    private var isArmed = false
    /// Groups in which somebody waits, in the order of their turns.
    private var order: [Group] = []
    private var waiting: [Group: [Parking]] = [:]

    /// - Parameter perTurn: at least 1.
    package init(perTurn: Int, on loop: any Loop) {
        precondition(perTurn > 0, "somebody must begin")
        (self.perTurn, self.loop, left) = (perTurn, loop, perTurn)
    }

    /// How many wait.
    package var waitingCount: Int { waiting.values.reduce(0) { $0 + $1.count } }

    /// Returns when it may begin: at once, or in a later turn. Answers false where the wait was
    /// cancelled.
    ///
    /// - Parameter later: in a later turn, whatever this one has left: for a piece of work whose
    ///   last piece was of this turn.
    package func enter(_ group: Group, later: Bool = false) async -> Bool {
        // Jobs that the loop is behind with may all be for here.
        if left > 0, order.isEmpty, !later, !loop.isBehind {
            left -= 1
            arm()
            return true
        }
        let place = Parking(loop)
        if waiting[group] == nil { order.append(group) }
        waiting[group, default: []].append(place)
        arm()
        let wake = await place.park()
        if wake == .cancelled, waiting[group]?.contains(where: { $0 === place }) == true {
            leave(place, group)
        } else {
            waking -= 1
            wakeNext()
        }
        return wake != .cancelled
    }

    /// It waits no more.
    private func leave(_ place: Parking, _ group: Group) {
        waiting[group]?.removeAll { $0 === place }
        guard waiting[group]?.isEmpty == true else { return }
        waiting[group] = nil
        order.removeAll { $0 == group }
    }

    private func arm() {
        guard !isArmed else { return }
        isArmed = true
        loop.atEndOfTurn(self)
    }

    package func turnEnded() {
        isArmed = false
        left = perTurn
        wakeNext()
        if left < perTurn || !order.isEmpty { arm() }
    }

    private func wakeNext() {
        while left > 0, waking < Self.wakingMax, !order.isEmpty {
            let group = order.removeFirst()
            let next = waiting[group]?.removeFirst()
            if waiting[group]?.isEmpty == true { waiting[group] = nil } else { order.append(group) }
            next?.unpark()
            left -= 1
            waking += 1
        }
    }
}
