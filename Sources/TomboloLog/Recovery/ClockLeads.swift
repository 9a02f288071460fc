import TomboloCore
import TomboloEventLog

/// How far the relay's wall clock was ahead of its steady clock, and for which rows.
///
/// Rows have the wall time of their recording. Their age is measured on the steady clock, which
/// cannot be set: steps of the wall clock make no row older or younger. Time in which the machine
/// was off does not count.
struct ClockLeads {
    /// Format in rows.
    struct Entry: BitwiseCopyable {
        /// The first event and the first fact that it applies to.
        var first: ByKind<Int64>
        var seconds: Int64

        var lead: Span { .seconds(seconds) }
    }

    /// Smaller changes, in seconds, are ignored: they come from a time server and hardly matter.
    static let noticed: Int64 = 60
    /// Leads are stored in the table `cut` from this key on, in order.
    static let firstKey: Int64 = 1 << 16
    /// Allowed leads, in seconds: up to 35,000 years.
    static let range = -Int64(1 << 40)...Int64(1 << 40)

    /// In the order of their rows; empty if no lead is known.
    private(set) var entries: [Entry] = []
    /// Keys of the entries' rows.
    private var keys: [Int64] = []

    /// The current lead.
    var now: Span { entries.last?.lead ?? .zero }
    /// The smallest lead of all kept rows.
    var least: Span { entries.map(\.lead).min() ?? .zero }

    /// The lead of an event or a fact.
    func lead(_ kind: TenantSeqs.Kind, _ seq: Int64) -> Span {
        (entries.last { $0.first[kind] <= seq } ?? entries.first)?.lead ?? .zero
    }

    /// Sets `lead` from the next rows on. The first lead applies to all earlier rows too.
    mutating func note(
        _ lead: Span, from next: ByKind<Int64>, _ engine: any LogWriting
    ) throws(EventLogError) {
        let seconds = floorDivide(lead.nanoseconds, Span.seconds(1).nanoseconds)
        if let last = entries.last, abs(seconds - last.seconds) < Self.noticed { return }
        let first = entries.isEmpty ? ByKind(event: 0, fact: 0) : next
        try add(Entry(first: first, seconds: seconds), engine)
    }

    /// Adds an entry after the others; it may come from another log.
    mutating func add(_ entry: Entry, _ engine: any LogWriting) throws(EventLogError) {
        var key = keys.last.map { $0 + 1 } ?? Self.firstKey
        if let last = entries.last?.first,
            (last.event, last.fact) == (entry.first.event, entry.first.fact)
        {
            entries.removeLast()
            key = keys.removeLast()
        }
        entries.append(entry)
        keys.append(key)
        try engine.put(.cut, .cut, key, entry)
    }

    /// Removes the entries of deleted rows.
    mutating func cut(
        event: Int64, fact: Int64, _ engine: any LogWriting
    ) throws(EventLogError) {
        while entries.count > 1, entries[1].first.event <= event + 1,
            entries[1].first.fact <= fact + 1
        {
            entries.removeFirst()
            try engine.delete(.cut, keys.removeFirst())
        }
    }

    // MARK: Rows of the table `cut`

    /// Adds a row with a valid checksum. Call it in the order of keys. Returns false if no log can
    /// have written the row.
    mutating func recover(_ key: Int64, _ row: RawSpan) -> Bool {
        let seqs = 0...LogTable.numberMax
        guard let found = row.numbers(Entry.self), seqs.contains(found.first.event),
            seqs.contains(found.first.fact), Self.range.contains(found.seconds)
        else { return false }
        entries.append(found)
        keys.append(key)
        return true
    }

    func store(_ engine: any LogWriting) throws(EventLogError) {
        for (key, entry) in zip(keys, entries) { try engine.put(.cut, .cut, key, entry) }
    }
}
