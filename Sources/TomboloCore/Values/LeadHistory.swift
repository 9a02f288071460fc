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
        /// How long the machine was off before, by the wall clock; nil: it was not off.
        var gap: Span?
    }

    /// If the wall clock is set within this time after a reboot, it was wrong since the reboot.
    static let gapHeld = Span.minutes(10)

    /// Maximum number of entries. Older ones are dropped, because nothing asks for times that old.
    package static let entriesMax = 16

    /// In the order of time. The first entry is also used for all earlier times.
    private var entries: [Entry] = []

    package init() {}

    /// Adds a lead that is valid from now on. Small changes come from a time server and are
    /// ignored.
    ///
    /// - Parameter gap: how long the machine was off, by the wall clock, if it was rebooted.
    package mutating func note(_ lead: Span, at now: Instant, afterGap gap: Span? = nil) {
        if gap == nil, let last = entries.last {
            let change = lead - last.lead
            guard max(change, .zero - change) > RelayClock.leadMax else { return }
            correctGap(by: change, now: now)
        }
        entries.append(Entry(since: now, lead: lead, gap: gap.map { max(.zero, $0) }))
        if entries.count > Self.entriesMax { entries.removeFirst() }
    }

    private mutating func correctGap(by change: Span, now: Instant) {
        guard let index = entries.lastIndex(where: { $0.gap != nil }), let gap = entries[index].gap,
            now < entries[index].since + Self.gapHeld
        else { return }
        entries[index].gap = max(.zero, gap + change)
    }

    /// How long the machine was off since a monotonic time, as far as the wall clock tells.
    func gaps(since begin: Instant) -> Span {
        entries.reduce(.zero) { $1.since > begin ? $0 + ($1.gap ?? .zero) : $0 }
    }

    /// When something that began at `begin` is `age` old, if the time counts in which the machine
    /// was off. The newest such time counts only when the wall clock has held for `gapHeld`.
    func agedAt(_ age: Span, since begin: Instant) -> Instant {
        let due = begin + age - gaps(since: begin)
        guard let newest = entries.last(where: { $0.gap != nil }), newest.since > begin,
            let gap = newest.gap
        else { return due }
        return min(due + gap, max(due, newest.since + Self.gapHeld))
    }

    /// The monotonic time at which the wall clock showed `wall`: the later one if it showed it
    /// twice. If no clock has shown it yet, the newest lead is used.
    package func steady(_ wall: Instant, now: Instant) -> Instant {
        var end = now
        for (index, entry) in entries.enumerated().reversed() {
            let steady = wall - entry.lead
            // A lead may change slightly before it is added here.
            let isLate = steady <= end + RelayClock.leadMax
            let isOfEntry = steady >= entry.since - RelayClock.leadMax
            // The first entry also counts for the time before it, unless others were dropped.
            if isLate, isOfEntry || index == 0 && entries.count < Self.entriesMax {
                return min(steady, end)
            }
            end = entry.since
        }
        let newest = wall - (entries.last?.lead ?? .zero)
        // If that is past, a lead showed it that was dropped, before the first that is kept.
        return newest > now ? newest : entries.first?.since ?? newest
    }

    /// What the wall clock showed at a monotonic time.
    func wall(_ steady: Instant) -> Instant {
        steady + ((entries.last { $0.since <= steady } ?? entries.first)?.lead ?? .zero)
    }

    // MARK: In the record of the clock

    /// Writes the entries, unless the reading's own lead is enough.
    func write(to writer: inout JSONWriter) {
        guard entries.count > 1 else { return }
        writer.array("leads", of: entries) { writer, entry in
            writer.integer(entry.since.nanoseconds)
            writer.integer(entry.lead.nanoseconds)
        }
        writer.array("gaps", of: entries) { $0.integer($1.gap?.nanoseconds ?? -1) }
    }

    /// - Parameters:
    ///   - gaps: the gap of each entry, −1 if it has none. Older relays did not store them.
    ///   - lead: the lead of the reading.
    init(stored list: JSONView?, gaps: JSONView?, lead: Span, at steady: Instant) {
        let numbers = list?.elements.compactMap(\.integer) ?? []
        let gaps = gaps?.elements.compactMap(\.integer) ?? []
        for index in stride(from: 0, to: numbers.count - 1, by: 2) {
            let gap = gaps.dropFirst(index / 2).first.flatMap { $0 < 0 ? nil : $0 }
            entries.append(
                Entry(
                    since: Instant(nanoseconds: numbers[index]),
                    lead: Span(nanoseconds: numbers[index + 1]),
                    gap: gap.map(Span.init(nanoseconds:))))
        }
        entries.removeFirst(max(0, entries.count - Self.entriesMax))
        note(lead, at: steady)
    }
}
