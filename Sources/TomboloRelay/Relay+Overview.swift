package import TomboloCore
import TomboloLoop

// Overviews and lists for operators. Long work is done in pieces, with other work in between.

extension Relay {
    /// Overview of all running activities of a tenant.
    package func overview(of tenant: TenantID) async -> Overview {
        var overview = Overview()
        var place: Int? = 0
        while let next = place {
            place = read { core, now in
                core.look(&overview, of: tenant, from: next, now: now)
            }
            if place != nil { await letOthersGo() }
        }
        return overview
    }

    /// For each tenant, the number of destinations where a change waits.
    package func waitingCounts() async -> [TenantID: Int] {
        var waiting = WaitingByTenant()
        while !waiting.isWhole {
            read { core, _ in waiting.countMore(of: core) }
            if !waiting.isWhole { await letOthersGo() }
        }
        return waiting.counts
    }

    /// For each `WaitReason`: the number of the tenant's destinations where a change waits because
    /// of it, and how long the oldest of these changes has waited. And the tenant's cards, by what
    /// is known of their newest versions.
    package func waitingChanges(
        of tenant: TenantID
    ) async -> (waiting: [(reason: WaitReason, count: Int64, age: Span)], cards: StandingCounts) {
        var (waiting, cards) = (WaitingChanges(), StandingCounts())
        var place: Int? = 0
        while let next = place {
            place = read { core, now in
                core.count(&waiting, &cards, of: tenant, from: next, now: now)
            }
            if place != nil { await letOthersGo() }
        }
        let byReason = read { _, now in
            WaitReason.allCases.map { ($0, waiting.count(of: $0), waiting.age(of: $0, now: now)) }
        }
        return (byReason, cards)
    }

    /// A page of a tenant's activities in the order of their ids.
    package func activities(
        _ filter: ActivityFilter, after: Identifier?, limit: Int
    ) async -> (views: [ActivityView], next: Identifier?) {
        var page = IDPage(after: after, limit: limit)
        while page.place != nil {
            read { core, _ in core.collect(&page, filter) }
            if page.place != nil { await letOthersGo() }
        }
        return read { core, now in core.views(page, filter, now: now) }
    }

    /// A page of a tenant's devices. Tokens are complete, so the caller must hide them.
    package func devices(
        _ filter: DeviceFilter, after: Identifier?, limit: Int
    ) async -> (views: [DeviceView], next: Identifier?) {
        var list = DeviceList(filter, after: after, limit: limit)
        while !list.isWhole {
            read { core, now in list.collectMore(of: core, now: now) }
            if !list.isWhole { await letOthersGo() }
        }
        return read { core, now in list.views(of: core, now: now) }
    }

    /// What of a tenant has an id that begins with a text, and whether that is all.
    package func search(
        _ prefix: String, of tenant: TenantID
    ) async -> (found: [SearchResult], isAll: Bool) {
        var search = PrefixSearch(prefix, of: tenant)
        while !search.isWhole {
            read { core, _ in search.lookMore(at: core) }
            if !search.isWhole { await letOthersGo() }
        }
        return read { core, _ in search.results(in: core) }
    }

    /// Waits for a later turn of the loop before the next piece of long work. If the task is
    /// cancelled, this function returns without waiting, so the work is still completed.
    package func letOthersGo(_ group: String = "") async {
        _ = await pieces.enter(group, later: true)
    }
}
