import TomboloJSON

// Values that depend on whether the user is in the app (pacing rule 12), for each device.

extension Core {
    /// The state with its version and the device's present value in it, and this value; nil if the
    /// type has no binding.
    mutating func bound(
        _ state: JSON, _ event: Push.Event, at slot: CardSlot, now: Instant
    ) -> (state: JSON, value: JSON?) {
        guard types.hasBindings, let projection = projection(slot) else { return (state, nil) }
        let activity = activities[destinations[slot].activity]
        var state = state
        if projection.ending?.isBare != true {
            state =
                types.type(of: activity.definition, activity.key.tenant)?
                .versioned(state, projection.version) ?? state
        }
        if event == .start { destinations[slot].bound = nil }
        guard let (binding, every) = followPresence(slot, now: now),
            let value = destinations[slot].bound?.value(of: binding, at: now, every: every)
        else { return (state, nil) }
        destinations[slot].bound?.sent(now: now, every: every)
        return (binding.write(value, into: state), value)
    }

    /// Lets the destination's value follow the device's presence. Returns the type's binding, and
    /// the interval between steps of the animation; nil if the type has no binding.
    mutating func followPresence(
        _ slot: CardSlot, now: Instant
    ) -> (PresenceBinding, every: Span)? {
        let activity = activities[destinations[slot].activity]
        guard let binding = types.type(of: activity.definition, activity.key.tenant)?.presence
        else { return nil }
        let device = destinations[slot].device
        let every = max(Tween.everyStandard, grantInForce(slot).grant.frameInterval)
        // While frames of a clip are sent, the value jumps, and goes with the next frame.
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
