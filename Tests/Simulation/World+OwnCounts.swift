import TomboloCore
import TomboloEventLog
import TomboloRelay

// What a tenant reads of the log counts its own, whatever others write.

extension World {
    /// The pages of a tenant's log and facts, whose places go on by one from what was cut.
    func checkPages(_ relay: Relay, _ tenant: TenantID) async {
        var events = EventQuery(tenant: tenant)
        events.limit = 37
        events.through = await relay.lastSeq(of: tenant)
        var facts = FactQuery(tenant: tenant)
        facts.limit = 37
        do {
            var last: Int64?
            var next: Int64? = 0
            while let after = next {
                events.after = after
                let page = try await relay.events(events)
                for event in page.events { checkNext(event.tenantSeq, after: &last, tenant) }
                next = page.next
            }
            if events.through != last ?? events.through {
                violated(.ownCount, "\(tenant.name): its log ends at \(last ?? 0)")
            }
            (last, next) = (nil, 0)
            while let after = next {
                facts.after = after
                let page = try await relay.facts(facts)
                for fact in page.facts { checkNext(fact.tenantSeq, after: &last, tenant) }
                next = page.next
            }
        } catch {
            violated(.ownCount, "\(tenant.name): its log cannot be read: \(error)")
        }
    }

    private func checkNext(_ place: Int64, after last: inout Int64?, _ tenant: TenantID) {
        // The first may have been cut.
        let isNext = last.map { place == $0 + 1 } ?? (place == 1 || plan.months != nil)
        if !isNext { violated(.ownCount, "\(tenant.name): \(place) after \(last ?? 0)") }
        last = place
    }
}
