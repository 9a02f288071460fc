extension RelayClock {
    /// What the next relay needs to go on with this clock.
    package struct Reading: Hashable, Sendable {
        package var boot: String
        package var monotonic: Int64
        package var steady: Instant
        package var lead: Span
        /// The leads of before, and this one.
        package var leads = LeadHistory()
        /// All that the relay knows is on record, and it ends.
        package var isLast = false

        /// While this is the reading on record no later time goes into a timestamp.
        package var toldThrough: Instant {
            isLast ? steady + lead : steady + lead + RelayClock.reach
        }
    }

    /// A reading is written at most so often, but for a lead that has changed.
    package static let readingInterval = Span.seconds(1)

    /// The clock as it stands.
    package mutating func reading(monotonic: Int64, boot: String) -> Reading {
        Reading(
            boot: boot, monotonic: monotonic, steady: steady(monotonic: monotonic), lead: lead,
            leads: leads)
    }
}
