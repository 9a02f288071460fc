import TomboloCore
import TomboloEventLog

extension StoredLog {
    func events(_ query: EventQuery) -> EventPage {
        var page = EventPage(events: [], next: nil)
        let own = rows(query)
        let start = countUpTo(query.after, in: own)
        for (index, seq) in own.enumerated().dropFirst(start) {
            let event = events[Int(seq) - 1]
            if let through = query.through, event.tenantSeq > through { break }
            if query.matches(event.event.kind, recordedAt: event.event.recordedAt) {
                page.append(event)
            }
            let isLast = index + 1 == own.count || event.tenantSeq == query.through
            if !isLast, page.isFull(query) || index - start + 1 >= query.scanMax {
                page.next = event.tenantSeq
                break
            }
        }
        return page
    }

    /// The tenant's sequences, or those of an activity of its own.
    private func rows(_ query: EventQuery) -> [Int64] {
        guard let activity = query.activity else { return eventsOf[query.tenant] ?? [] }
        return heads[activity]?.tenant == query.tenant ? chains[activity] ?? [] : []
    }

    /// How many of the rising `rows` are at most at `place` of their tenant.
    private func countUpTo(_ place: Int64, in rows: [Int64]) -> Int {
        var low = 0
        var high = rows.count
        while low < high {
            let middle = (low + high) / 2
            if events[Int(rows[middle]) - 1].tenantSeq <= place {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    func event(seq: Int64, tenant: TenantID) -> RecordedEvent? {
        guard seq >= 1, seq <= events.count else { return nil }
        let event = events[Int(seq) - 1]
        return event.event.tenant == tenant ? event : nil
    }

    func event(tenantSeq: Int64, tenant: TenantID) -> RecordedEvent? {
        let own = eventsOf[tenant] ?? []
        guard tenantSeq >= 1, tenantSeq <= own.count else { return nil }
        return events[Int(own[Int(tenantSeq) - 1]) - 1]
    }

    func history(after seq: Int64, limit: Int) -> [RecordedEvent] {
        Array(events.dropFirst(Int(max(0, min(seq, Int64(events.count))))).prefix(limit))
    }

    func facts(_ query: FactQuery) -> FactPage {
        let own = factsOf[query.tenant] ?? []
        var page = FactPage(facts: [], next: nil)
        let start = Int(max(0, min(query.after, Int64(own.count))))
        let end = Int(max(1, min(query.before ?? .max, Int64(own.count) + 1))) - 1
        guard start < end else { return page }
        for index in start..<end {
            let isRising = query.order == .oldestFirst
            let fact = facts[Int(own[isRising ? index : end - 1 - (index - start)]) - 1]
            if query.matches(fact.fact) { page.append(fact) }
            let isLast = index + 1 == end
            if !isLast, page.isFull(query) || index - start + 1 >= query.scanMax {
                page.next = fact.tenantSeq
                break
            }
        }
        return page
    }
}
