/// How pushes reach an online phone: late, in groups, and not always in order.
///
/// Apple says that pushes of priority 5 "might get grouped and delivered in bursts", and that APNs
/// "may reorder".
extension Phone {
    /// Returns the pushes to apply now, in order: pushes that waited and are released by the new
    /// push, then the new push, unless it must wait.
    mutating func arrive(_ push: AcceptedPush, at now: WallInstant) -> [AcceptedPush] {
        arrivals += 1
        if push.priority < 10, keepsLowPriority {
            group(push, until: .distantFuture)
            return []
        }
        if let grouping = configuration.lowPriorityGrouping, push.priority < 10 {
            group(push, until: now + grouping)
            return []
        }
        // A push that wakes the phone is delivered together with the pushes that wait.
        let woken = takeGrouped() + [push]
        if let every = configuration.reordersEvery, arrivals.isMultiple(of: every), late == nil {
            late = push
            lateUntil = now + Self.lateTimeMax
            return Array(woken.dropLast())
        }
        defer { late = nil }
        return woken + (late.map { [$0] } ?? [])
    }

    /// True if pushes of low priority wait until the user or a push at priority 10 wakes the phone.
    var keepsLowPriority: Bool { isLocked && configuration.holdsLowPriorityWhileLocked }

    /// Keeps a push of low priority for later. All kept pushes wait until the first one's `until`.
    private mutating func group(_ push: AcceptedPush, until: WallInstant) {
        if grouped.isEmpty { groupedUntil = until }
        if grouped.count < Self.groupedMax { return grouped.append(push) }
        grouped.removeFirst()
        grouped.append(push)
    }

    /// Maximum number of kept pushes of low priority; if more come, the oldest is lost.
    static let groupedMax = 1_000

    /// The phone is awake: applies the pushes and broadcasts that waited for it.
    mutating func wake(at now: WallInstant, _ effects: inout [PhoneEffect]) {
        for push in takeGrouped() { take(push, at: now, &effects) }
        takeLockedBroadcasts(at: now, &effects)
    }

    mutating func takeDue(at now: WallInstant) -> [AcceptedPush] {
        var due: [AcceptedPush] = []
        if !grouped.isEmpty, groupedUntil <= now, !keepsLowPriority { due = takeGrouped() }
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

    /// When `takeDue` will return a push; nil if none waits.
    var heldUntil: WallInstant? {
        [grouped.isEmpty || keepsLowPriority ? nil : groupedUntil, late == nil ? nil : lateUntil]
            .compactMap(\.self)
            .min()
    }

    /// Maximum delay of a push that the next one overtakes.
    static let lateTimeMax: Duration = .seconds(1)

    // MARK: - Starts that the system handles later

    struct LateStart: Sendable {
        var push: AcceptedPush
        var due: WallInstant
    }

    /// If the phone has this trouble, delays a start by a random time and returns true.
    mutating func delayStart(_ push: AcceptedPush, at now: WallInstant) -> Bool {
        guard trouble.startJitter > .zero else { return false }
        let delay = trouble.startJitter * chance("start \(arrivals)")
        lateStarts.append(LateStart(push: push, due: now + delay))
        return true
    }

    mutating func takeLateStarts(at now: WallInstant, _ effects: inout [PhoneEffect]) {
        let due = lateStarts.filter { $0.due <= now }
        lateStarts.removeAll { $0.due <= now }
        for late in due { take(late.push, mayWait: false, at: now, &effects) }
    }
}
