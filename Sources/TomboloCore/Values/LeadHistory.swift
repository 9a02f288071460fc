import TomboloJSON

/// How far wall time was ahead of monotonic time (the "lead"), and since when. So a step of the
/// wall clock does not change the age of what was recorded in wall time.
///
/// A wall time is converted by the lead that was valid when a clock showed it. Time in which the
/// machine was off does not count.
package struct LeadHistory: Hashable, Sendable {
    private struct Entry: Hashable, Sendable {
        /// Monotonic time since which this lead was valid.
        var since: Instant
        var lead: Span
    }

    /// Maximum number of entries. Older ones are dropped, because nothing asks for times that old.
    package static let entriesMax = 16

    /// In the order of time. The first entry is also used for all earlier times.
    private var entries: [Entry] = []

    package init() {}

    /// Adds a lead that is valid from now on. Small changes come from a time server and are
    /// ignored.
    package mutating func note(_ lead: Span, at now: Instant) {
        if let last = entries.last {
            let change = lead - last.lead
            guard max(change, .zero - change) > RelayClock.leadMax else { return }
        }
        entries.append(Entry(since: now, lead: lead))
        if entries.count > Self.entriesMax { entries.removeFirst() }
    }

    /// The monotonic time at which the wall clock showed `wall`: the later one if it showed it
    /// twice. If no clock has shown it yet, the newest lead is used.
    package func steady(_ wall: Instant, now: Instant) -> Instant {
        var end = now
        for (index, entry) in entries.enumerated().reversed() {
            let steady = wall - entry.lead
            // A lead may change slightly before it is added here.
            let isLate = steady <= end + RelayClock.leadMax
            if isLate, index == 0 || steady >= entry.since - RelayClock.leadMax {
                return min(steady, end)
            }
            end = entry.since
        }
        return wall - (entries.last?.lead ?? .zero)
    }

    // MARK: In the record of the clock

    /// Writes the entries, unless the reading's own lead is enough.
    func write(to writer: inout JSONWriter) {
        guard entries.count > 1 else { return }
        writer.array("leads", of: entries) { writer, entry in
            writer.integer(entry.since.nanoseconds)
            writer.integer(entry.lead.nanoseconds)
        }
    }

    /// - Parameter lead: the lead of the reading.
    init(stored list: JSONView?, lead: Span, at steady: Instant) {
        let numbers = list?.elements.compactMap(\.integer) ?? []
        for index in stride(from: 0, to: numbers.count - 1, by: 2) {
            note(Span(nanoseconds: numbers[index + 1]), at: Instant(nanoseconds: numbers[index]))
        }
        note(lead, at: steady)
    }
}
