/// Lets a limited number of operations begin in each turn of the loop. The others wait in groups,
/// which take turns. So sockets and timers are served in between, and a group with a thousand
/// requests delays only itself.
///
/// On the loop only.
package final class TurnGate<Group: Hashable & Sendable>: TurnTarget, @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let perTurn: Int
    private let loop: any Loop
    /// Number of operations that may still begin in this turn.
    private var left: Int
    /// Admitted waiters that do not run yet. The next one is admitted when one of them runs;
    /// otherwise all would enter the loop's queue before other jobs.
    private var waking = 0
    private static var wakingMax: Int { 2 }
    private var isArmed = false
    /// Groups with waiters, in the order of their turns.
    private var order: [Group] = []
    private var waiting: [Group: [Parking]] = [:]

    /// - Parameter perTurn: at least 1.
    package init(perTurn: Int, on loop: any Loop) {
        precondition(perTurn > 0, "somebody must begin")
        (self.perTurn, self.loop, left) = (perTurn, loop, perTurn)
    }

    /// Number of waiters.
    package var waitingCount: Int { waiting.values.reduce(0) { $0 + $1.count } }

    /// Waits until the caller may begin: at once, or in a later turn. Returns false if the wait was
    /// cancelled.
    ///
    /// - Parameter later: true waits for a later turn in any case: for work whose previous piece
    ///   ran in this turn.
    package func enter(_ group: Group, later: Bool = false) async -> Bool {
        // If the loop is behind, its waiting jobs may all be for this gate.
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

    /// Removes a waiter.
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
