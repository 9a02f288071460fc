package import TomboloCore

/// A query for a page of facts, similar to `EventQuery`.
package struct FactQuery: Hashable, Sendable {
    /// Order of the facts in a page.
    package enum Order: Hashable, Sendable {
        case oldestFirst
        case newestFirst
    }

    package var tenant: TenantID
    package var order = Order.oldestFirst
    /// Only facts after this place among the tenant's facts. An oldest-first query continues here.
    package var after: Int64 = 0
    /// Only facts before this place; nil: up to the newest. A newest-first query continues here.
    package var before: Int64?
    package var activity: ActivityNumber?
    /// Only facts about this device or channel: see `FactRecipient`.
    package var recipient: Recipient?
    /// Only facts of these kinds; nil means all kinds.
    package var kinds: Set<String>?
    /// Only facts recorded at or after this time.
    package var from: Instant?
    /// Only facts recorded before this time.
    package var until: Instant?
    package var limit: Int = 100
    package var bytesMax: Int = 1 << 20
    /// Maximum number of the tenant's facts that are examined. Facts skipped by an index do not
    /// count.
    package var scanMax: Int = 100_000

    package init(tenant: TenantID) { self.tenant = tenant }

    /// Continues the query after a page, at the page's `next`.
    package mutating func goOn(at next: Int64) {
        switch order {
        case .oldestFirst: after = next
        case .newestFirst: before = next
        }
    }

    /// True if a fact of the tenant matches the query, apart from its place.
    package func matches(_ fact: NewFact) -> Bool {
        (activity.map { $0 == fact.activity } ?? true)
            && (kinds.map { $0.contains(fact.kind) } ?? true)
            && matches(recordedAt: fact.recordedAt)
            && (recipient.map { FactRecipient.isAbout($0, fact.body) } ?? true)
    }

    /// True if a fact of this time matches the query.
    package func matches(recordedAt: Instant) -> Bool {
        (from.map { $0 <= recordedAt } ?? true) && (until.map { recordedAt < $0 } ?? true)
    }
}

/// One page of facts, similar to `EventPage`.
package struct FactPage: Sendable {
    package var facts: [RecordedFact]
    /// Places of damaged rows among the examined ones, in the page's order.
    package var damaged: [ClosedRange<Int64>] = []
    package private(set) var bytes = 0
    /// Value for `FactQuery.goOn` to read the next page; nil if no facts are left.
    package var next: Int64?

    package init(facts: [RecordedFact], next: Int64?) {
        self.facts = facts
        self.next = next
    }

    /// Adds the next fact.
    package mutating func append(_ fact: RecordedFact) {
        bytes += fact.fact.body.count
        facts.append(fact)
    }

    /// True if the page takes no more facts.
    package func isFull(_ query: FactQuery) -> Bool {
        facts.count >= query.limit || bytes >= query.bytesMax
    }
}
