package import TomboloCore

// Counters for `/metrics`.

extension Relay {
    /// Counts the outcome of an upstream's push and passes it to the core. Call it on the loop.
    package nonisolated func pushEnded(_ outcome: PushOutcome, in upstream: UpstreamNumber) {
        assumeIsolated { relay in
            let index = Int(upstream.rawValue)
            if relay.meters.indices.contains(index) {
                let now = Self.wall(of: &relay.core, relay.steadyNow())
                relay.meters[index].answered(outcome, now: now)
            }
            relay.put(.pushEnded(outcome))
        }
    }

    /// Counts pushes that are passed to the sender now.
    func measure(_ pushes: [Push], now: Instant) {
        let now = Self.wall(of: &core, now)
        for push in pushes {
            meters[Int(push.upstream.rawValue)].sent(changedAt: push.changedAt, now: now)
        }
    }

    /// The core is passed inout, because a copy would be expensive.
    private static func wall(of core: inout Core, _ now: Instant) -> Instant { core.wall(now) }

    /// A tenant's upstreams, in the order of the configuration.
    package func upstreams(of tenant: TenantID) -> [UpstreamView] {
        core.configuration.apps.indices.filter { core.configuration.apps[$0].tenant == tenant }
            .map(upstream)
    }

    /// The upstreams of all tenants. If several tenants have the same app, their upstreams are
    /// merged: closed if one of them is closed, with the refusals of all.
    package func upstreams() -> [UpstreamView] {
        var views: [UpstreamView] = []
        for next in core.configuration.apps.indices.map(upstream) {
            let known = views.firstIndex {
                $0.app == next.app && $0.environment == next.environment
            }
            guard let known else {
                views.append(next)
                continue
            }
            if next.isClosed {
                views[known].isClosed = true
                views[known].trouble = views[known].trouble ?? next.trouble
                views[known].nextTry = views[known].nextTry ?? next.nextTry
            }
            views[known].meter.addRefusals(of: next.meter)
        }
        return views
    }

    private func upstream(_ index: Int) -> UpstreamView {
        let app = core.configuration.apps[index]
        let upstream = UpstreamNumber(Int32(index))
        let isClosed = core.isParked(upstream)
        return UpstreamView(
            number: upstream, app: app.id, environment: app.environment, isClosed: isClosed,
            trouble: isClosed ? upstreamTroubles[upstream] : nil,
            nextTry: core.nextTry(upstream, now: steadyNow()),
            meter: meters[index])
    }
}
