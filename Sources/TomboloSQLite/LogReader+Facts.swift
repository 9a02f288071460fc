import TomboloCore
import TomboloEventLog

extension LogReader {
    func scan(_ query: FactQuery, tenant: Int64) throws(SQLiteError) -> FactPage {
        var page = FactPage(facts: [], next: nil)
        var looked = (rows: 0, last: query.after)
        let last = try integer(lastFactSeq)
        let start = try place(.fact, tenant, after: query.after)
        var position = max(start, try integer(factCut))
        // One more than is asked for shows only that there is more.
        while position < last {
            let end = position + Waypoint.spacing
            let before = looked.last
            factsAfter.bind(position, at: 1)
            factsAfter.bind(end, at: 2)
            factsAfter.bind(tenant, at: 3)
            defer { factsAfter.reset() }
            while try factsAfter.step() {
                guard let fact = FactRow.fact(factsAfter, tenants: tenants) else {
                    damage.add("fact \(factsAfter.integer(0)): its row is damaged")
                    continue
                }
                guard fact.tenantSeq > query.after else { continue }
                if page.isFull(query) || looked.rows >= query.scanMax {
                    page.next = looked.last
                    return page
                }
                looked = (looked.rows + 1, fact.tenantSeq)
                if query.activity == nil || query.activity == fact.fact.activity,
                    query.matches(recordedAt: fact.fact.recordedAt)
                {
                    page.append(fact)
                }
            }
            position = end
            guard looked.last == before else { continue }
            switch try leap(.fact, tenant, after: looked.last, from: position) {
            case .to(let seq): position = seq
            case .nothing: return page
            case .none: break
            }
        }
        return page
    }
}
