/// How pushes come to a phone that is reached: late, in groups, and not always in order.
///
/// Apple: priority 5 "might get grouped and delivered in bursts", and APNs "may reorder".
extension Phone {
    /// Holds a push back or lets it, and what it brings along, through; in the order of applying.
    mutating func arrive(_ push: AcceptedPush, at now: WallInstant) -> [AcceptedPush] {
        arrivals += 1
        if let grouping = configuration.lowPriorityGrouping, push.priority < 10 {
            if grouped.isEmpty { groupedUntil = now + grouping }
            grouped.append(push)
            return []
        }
        // What waited is delivered with what wakes the phone.
        let woken = takeGrouped() + [push]
        if let every = configuration.reordersEvery, arrivals.isMultiple(of: every), late == nil {
            late = push
            lateUntil = now + Self.lateTimeMax
            return Array(woken.dropLast())
        }
        defer { late = nil }
        return woken + (late.map { [$0] } ?? [])
    }

    /// What is due by itself.
    mutating func takeDue(at now: WallInstant) -> [AcceptedPush] {
        var due: [AcceptedPush] = []
        if !grouped.isEmpty, groupedUntil <= now { due = takeGrouped() }
        if let push = late, lateUntil <= now {
            due.append(push)
            late = nil
        }
        return due
    }

    private mutating func takeGrouped() -> [AcceptedPush] {
        defer { grouped = [] }
        return grouped
    }

    /// When `takeDue` has something; nil where nothing is held.
    var heldUntil: WallInstant? {
        [grouped.isEmpty ? nil : groupedUntil, late == nil ? nil : lateUntil].compactMap(\.self)
            .min()
    }

    /// A push that is overtaken comes at the latest after this.
    static let lateTimeMax: Duration = .seconds(1)
}
