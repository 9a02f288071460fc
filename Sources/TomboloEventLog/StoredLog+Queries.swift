import TomboloCore

extension StoredLog {
    func events(_ query: EventQuery) -> EventPage {
        guard let activity = query.activity else {
            return page(
                after: max(0, query.after), count: Int64(events.count), query: query
            ) { $0 + 1 }
        }
        let chain = chains[activity] ?? []
        let start = Self.countUpTo(query.after, in: chain)
        return page(after: Int64(start), count: Int64(chain.count), query: query) {
            chain[Int($0)]
        }
    }

    /// How many of the rising `chain` are at most `seq`.
    private static func countUpTo(_ seq: Int64, in chain: [Int64]) -> Int {
        var low = 0
        var high = chain.count
        while low < high {
            let middle = (low + high) / 2
            if chain[middle] <= seq { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Looks at the rows numbered `after ..< count`; `seq` says where each stands.
    private func page(
        after: Int64, count: Int64, query: EventQuery, seq: (Int64) -> Int64
    ) -> EventPage {
        var page = EventPage(events: [], next: nil)
        for index in stride(from: after, to: count, by: 1) {
            let event = events[Int(seq(index)) - 1]
            if event.event.tenant == query.tenant,
                query.matches(event.event.kind, recordedAt: event.event.recordedAt)
            {
                page.append(event)
            }
            let isLast = index + 1 == count
            if !isLast, page.isFull(query) || index - after + 1 >= query.scanMax {
                page.next = event.seq
                break
            }
        }
        return page
    }

    func event(seq: Int64, tenant: TenantID) -> RecordedEvent? {
        guard seq >= 1, seq <= events.count else { return nil }
        let event = events[Int(seq) - 1]
        return event.event.tenant == tenant ? event : nil
    }

    func history(after seq: Int64, limit: Int) -> [RecordedEvent] {
        Array(events.dropFirst(Int(max(0, min(seq, Int64(events.count))))).prefix(limit))
    }

    func facts(_ query: FactQuery) -> FactPage {
        var page = FactPage(facts: [], next: nil)
        let rest = facts.dropFirst(Int(max(0, min(query.after, Int64(facts.count)))))
        for fact in rest {
            if fact.fact.tenant == query.tenant,
                query.activity == nil || fact.fact.activity == query.activity,
                query.matches(recordedAt: fact.fact.recordedAt)
            {
                page.append(fact)
            }
            let scanned = fact.seq - (rest.first?.seq ?? 0) + 1
            guard fact.seq < facts.count else { break }
            if page.isFull(query) || scanned >= Int64(query.scanMax) {
                page.next = fact.seq
                break
            }
        }
        return page
    }
}
