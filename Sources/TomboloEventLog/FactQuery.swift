package import TomboloCore

/// A page of facts; as `EventQuery`.
package struct FactQuery: Hashable, Sendable {
    /// Which facts of those that are asked for come first.
    package enum Order: Hashable, Sendable {
        case oldestFirst
        case newestFirst
    }

    package var tenant: TenantID
    package var order = Order.oldestFirst
    /// Facts after this place among those of the tenant: from here an oldest-first page goes on.
    package var after: Int64 = 0
    /// Facts before this place; nil: up to the newest. From here a newest-first page goes on.
    package var before: Int64?
    package var activity: ActivityNumber?
    /// Facts about this device or channel: see `FactRecipient`.
    package var recipient: Recipient?
    /// Facts of these kinds; nil: of all.
    package var kinds: Set<String>?
    /// Recorded then or later.
    package var from: Instant?
    /// Recorded before.
    package var until: Instant?
    package var limit: Int = 100
    package var bytesMax: Int = 1 << 20
    /// At most this many facts of the tenant are looked at. Those that an index passes over do not
    /// count.
    package var scanMax: Int = 100_000

    package init(tenant: TenantID) { self.tenant = tenant }

    /// Goes on where a page says that there is more.
    package mutating func goOn(at next: Int64) {
        switch order {
        case .oldestFirst: after = next
        case .newestFirst: before = next
        }
    }

    /// Whether a fact of the tenant is asked for, wherever its place is.
    package func matches(_ fact: NewFact) -> Bool {
        (activity.map { $0 == fact.activity } ?? true)
            && (kinds.map { $0.contains(fact.kind) } ?? true)
            && matches(recordedAt: fact.recordedAt)
            && (recipient.map { FactRecipient.isAbout($0, fact.body) } ?? true)
    }

    /// Whether a fact of that time is asked for.
    package func matches(recordedAt: Instant) -> Bool {
        (from.map { $0 <= recordedAt } ?? true) && (until.map { recordedAt < $0 } ?? true)
    }
}

/// Facts of one page; as `EventPage`.
package struct FactPage: Sendable {
    package var facts: [RecordedFact]
    /// Places of damaged rows among those that were looked at, in the page's order.
    package var damaged: [ClosedRange<Int64>] = []
    package private(set) var bytes = 0
    /// Where to go on (`FactQuery.goOn`); nil only where no fact that is asked for is left.
    package var next: Int64?

    package init(facts: [RecordedFact], next: Int64?) {
        self.facts = facts
        self.next = next
    }

    /// Adds the next one.
    package mutating func append(_ fact: RecordedFact) {
        bytes += fact.fact.body.count
        facts.append(fact)
    }

    /// Whether it takes no more facts.
    package func isFull(_ query: FactQuery) -> Bool {
        facts.count >= query.limit || bytes >= query.bytesMax
    }
}
