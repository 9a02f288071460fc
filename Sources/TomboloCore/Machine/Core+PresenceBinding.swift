import TomboloJSON

// Values that depend on where the app is (pacing rule 12): each device gets its own.

extension Core {
    /// A state with the device's present value in it, and that value.
    mutating func bound(
        _ state: JSON, _ event: Push.Event, at slot: CardSlot, now: Instant
    ) -> (state: JSON, value: JSON?) {
        guard types.hasBindings else { return (state, nil) }
        if event == .start { destinations[slot].bound = nil }
        guard let (binding, every) = followPresence(slot, now: now),
            let value = destinations[slot].bound?.value(of: binding, at: now, every: every)
        else { return (state, nil) }
        destinations[slot].bound?.sent(now: now, every: every)
        return (binding.write(value, into: state), value)
    }

    /// Follows the device's presence. Returns the binding of the destination's type and the
    /// interval between steps; nil if the type has no binding.
    mutating func followPresence(
        _ slot: CardSlot, now: Instant
    ) -> (PresenceBinding, every: Span)? {
        let activity = activities[destinations[slot].activity]
        guard let binding = types.type(of: activity.definition, activity.key.tenant)?.presence
        else { return nil }
        let device = destinations[slot].device
        let every = max(Tween.everyStandard, grantInForce(slot).grant.frameInterval)
        // While frames of a clip are sent, the value changes with the next frame.
        let (isOver, isRunning) = destinations[slot].clipState(at: wall(now))
        let jumps = isRunning && !isOver && !destinations[slot].isBundle
        var bound = destinations[slot].bound ?? BoundValue(shown: nil)
        bound.follow(
            binding, inFront: devices[device]?.presence.isInFront(at: now) ?? false, jumps: jumps,
            now: now, every: every)
        destinations[slot].bound = bound
        return (binding, every)
    }
}
