package import TomboloCore

/// A query for a page of events, oldest first.
package struct EventQuery: Hashable, Sendable {
    /// Only events of this tenant are returned; there is no query for all tenants.
    package var tenant: TenantID
    /// Only events after this place among the tenant's events.
    package var after: Int64 = 0
    /// A sequence of the log that corresponds to `after`, if the caller knows it. It saves a
    /// search. No event of the tenant after place `after` may be at or before it.
    package var place: Int64?
    /// Place of the tenant's newest event, if the caller knows it: the search ends there.
    package var through: Int64?
    package var activity: ActivityNumber?
    /// Sequence of an event near the activity's newest one, if known. It saves a search.
    package var newest: Int64?
    package var kind: EventKind?
    /// Only events recorded at or after this time.
    package var from: Instant?
    /// Only events recorded before this time.
    package var until: Instant?
    /// Maximum number of events in a page: 1 to 1,000.
    package var limit: Int = 100
    /// A page ends once its bodies have this many bytes, but has at least one event.
    package var bytesMax: Int = 1 << 20
    /// Maximum number of the tenant's events that are examined. If it is reached, the page is short
    /// and `next` is set. Other tenants' events do not count, because a short page would reveal
    /// that they exist.
    package var scanMax: Int = 100_000

    package init(tenant: TenantID) { self.tenant = tenant }

    /// True if an event of this kind and time matches the query.
    package func matches(_ kind: EventKind, recordedAt: Instant) -> Bool {
        (self.kind.map { $0 == kind } ?? true) && (from.map { $0 <= recordedAt } ?? true)
            && (until.map { recordedAt < $0 } ?? true)
    }
}

/// One page of events.
package struct EventPage: Sendable {
    package var events: [RecordedEvent]
    /// Places among the tenant's events whose rows are damaged, rising.
    package var damaged: [ClosedRange<Int64>] = []
    /// Bytes of the events' bodies.
    package private(set) var bytes = 0
    /// Value of `after` for the next page. Nil only at the end of the tenant's events.
    package var next: Int64?

    package init(events: [RecordedEvent], next: Int64?) {
        self.events = events
        self.next = next
    }

    /// Adds the next event.
    package mutating func append(_ event: RecordedEvent) {
        bytes += event.event.body.count
        events.append(event)
    }

    /// True if the page takes no more events.
    package func isFull(_ query: EventQuery) -> Bool {
        events.count >= query.limit || bytes >= query.bytesMax
    }
}

/// A past moment in a log.
package enum LogMoment: Hashable, Sendable {
    /// Includes events recorded up to this time.
    case instant(Instant)
    /// Includes events up to this place among the tenant's events.
    case tenantSeq(Int64)

    /// True if an event had happened by this moment.
    package func includes(tenantSeq: Int64, recordedAt: Instant) -> Bool {
        switch self {
        case .instant(let instant): recordedAt <= instant
        case .tenantSeq(let last): tenantSeq <= last
        }
    }
}
