extension RelayClock {
    /// What the next relay needs to continue this clock.
    package struct Reading: Hashable, Sendable {
        package var boot: String
        package var monotonic: Int64
        package var steady: Instant
        package var lead: Span
        /// The earlier leads, and this one.
        package var leads = LeadHistory()
        /// The relay ends, and all that it knows is on record.
        package var isLast = false

        /// The latest time in timestamps while this reading is the one on record.
        package var toldThrough: Instant {
            isLast ? steady + lead : steady + lead + RelayClock.reach
        }
    }

    /// The least time between two readings, unless the lead has changed.
    package static let readingInterval = Span.seconds(1)

    /// The present state of the clock.
    package mutating func reading(monotonic: Int64, boot: String) -> Reading {
        Reading(
            boot: boot, monotonic: monotonic, steady: steady(monotonic: monotonic), lead: lead,
            leads: leads)
    }
}
