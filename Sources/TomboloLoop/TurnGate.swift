/// Lets only a limited number of operations begin in each turn of the loop. The others wait in
/// groups, one operation from each group in turn. So the loop can serve sockets and timers in
/// between, and a group with a thousand requests delays mainly itself. Use it on the loop only.
package final class TurnGate<Group: Hashable & Sendable>: TurnTarget, @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let perTurn: Int
    private let loop: any Loop
    /// Number of operations that may still begin in this turn.
    private var left: Int
    /// Number of waiters that were woken but do not run yet. More are woken only when one of them
    /// runs; otherwise all would stand in the loop's queue before other jobs.
    private var waking = 0
    private static var wakingMax: Int { 2 }
    private var isArmed = false
    /// Groups that have waiters, in the order in which they come next.
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
    /// - Parameter later: true to wait for a later turn in any case, if the caller is a long
    ///   operation that already did a piece in this turn.
    package func enter(_ group: Group, later: Bool = false) async -> Bool {
        // If the loop is behind, all its jobs may be operations that this gate has let through.
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

    /// Removes a waiter from its group.
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
