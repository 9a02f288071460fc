package import TomboloCore

// What the shell counts for `/metrics`.

extension Relay {
    /// Counts the outcome of a push of this lane, and takes it; on the loop.
    package nonisolated func pushEnded(_ outcome: PushOutcome, in lane: LaneNumber) {
        assumeIsolated { relay in
            let index = Int(lane.rawValue)
            if relay.meters.indices.contains(index) { relay.meters[index].answered(outcome) }
            relay.put(.pushEnded(outcome))
        }
    }

    /// Counts pushes that are handed over now.
    func measure(_ pushes: [Push], now: Instant) {
        let now = Self.wall(of: &core, now)
        for push in pushes {
            meters[Int(push.lane.rawValue)].sent(changedAt: push.changedAt, now: now)
        }
    }

    /// The core is lent, as in a turn.
    private static func wall(of core: inout Core, _ now: Instant) -> Instant { core.wall(now) }

    /// A tenant's ways to Apple, in the order of the configuration.
    package func upstreams(of tenant: TenantID) -> [UpstreamView] {
        core.configuration.apps.indices.compactMap { index in
            let app = core.configuration.apps[index]
            guard app.tenant == tenant else { return nil }
            return UpstreamView(
                app: app.id, environment: app.environment,
                isClosed: core.isParked(LaneNumber(Int32(index))), meter: meters[index])
        }
    }
}
