import TomboloJSON

/// How far wall time was ahead of monotonic time, and since when, so that no step of the wall clock
/// changes the age of something on record in wall time.
///
/// A moment is translated by the lead that was in force when a clock showed it. Time in which the
/// machine was off does not count.
package struct LeadHistory: Hashable, Sendable {
    private struct Entry: Hashable, Sendable {
        /// Monotonic time since which the lead was in force.
        var since: Instant
        var lead: Span
    }

    /// Older entries are forgotten, because no query needs times as old.
    package static let entriesMax = 16

    /// The first entry also counts for all earlier times.
    private var entries: [Entry] = []

    package init() {}

    /// The lead changes now. Small changes come from a time server and are not kept.
    package mutating func note(_ lead: Span, at now: Instant) {
        if let last = entries.last {
            let change = lead - last.lead
            guard max(change, .zero - change) > RelayClock.leadMax else { return }
        }
        entries.append(Entry(since: now, lead: lead))
        if entries.count > Self.entriesMax { entries.removeFirst() }
    }

    /// The monotonic time at which the relay's wall clock showed `wall`, as seen at `now`. If two
    /// are possible, the later one; if no clock has shown it yet, by the newest lead.
    package func steady(_ wall: Instant, now: Instant) -> Instant {
        var end = now
        for (index, entry) in entries.enumerated().reversed() {
            let steady = wall - entry.lead
            // A lead changes a little before it counts as another.
            let isLate = steady <= end + RelayClock.leadMax
            if isLate, index == 0 || steady >= entry.since - RelayClock.leadMax {
                return min(steady, end)
            }
            end = entry.since
        }
        return wall - (entries.last?.lead ?? .zero)
    }

    // MARK: In the record of the clock

    /// Writes nothing if the reading's own lead is enough.
    func write(to writer: inout JSONWriter) {
        guard entries.count > 1 else { return }
        writer.name("leads")
        writer.beginArray()
        for entry in entries {
            writer.integer(entry.since.nanoseconds)
            writer.integer(entry.lead.nanoseconds)
        }
        writer.endArray()
    }

    /// - Parameter lead: the reading's own.
    init(stored list: JSONView?, lead: Span, at steady: Instant) {
        let numbers = list?.elements.compactMap(\.integer) ?? []
        for index in stride(from: 0, to: numbers.count - 1, by: 2) {
            note(Span(nanoseconds: numbers[index + 1]), at: Instant(nanoseconds: numbers[index]))
        }
        note(lead, at: steady)
    }
}
