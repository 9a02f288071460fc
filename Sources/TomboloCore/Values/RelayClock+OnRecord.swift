extension RelayClock {
    /// A reading of the clock in the log, with which the next relay continues the clock.
    package struct Reading: Hashable, Sendable {
        package var boot: String
        package var monotonic: Int64
        package var steady: Instant
        package var lead: Span
        /// Earlier leads, and this one.
        package var leads = LeadHistory()
        /// True if the relay ends now and all that it knows is in the log.
        package var isLast = false

        /// The latest wall time that timestamps may have while the log has this reading.
        package var toldThrough: Instant {
            isLast ? steady + lead : steady + lead + RelayClock.reach
        }
    }

    /// Minimum time between two readings, unless the lead has changed.
    package static let readingInterval = Span.seconds(1)

    /// The clock's state now.
    package mutating func reading(monotonic: Int64, boot: String) -> Reading {
        Reading(
            boot: boot, monotonic: monotonic, steady: steady(monotonic: monotonic), lead: lead,
            leads: leads)
    }
}
