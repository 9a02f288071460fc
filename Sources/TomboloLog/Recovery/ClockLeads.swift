import TomboloCore
import TomboloEventLog

/// How far the relay's wall clock was ahead of its steady clock (the lead), and for which rows.
///
/// A row has the wall time of its recording. Its age is measured on the steady clock, which cannot
/// be set, so steps of the wall clock make no row older or younger. Time in which the machine was
/// off does not count.
struct ClockLeads {
    /// One lead, as rows store it.
    struct Entry: BitwiseCopyable {
        /// The first event and the first fact to which this lead applies.
        var first: ByKind<Int64>
        var seconds: Int64

        var lead: Span { .seconds(seconds) }
    }

    /// Changes below this many seconds are ignored: time servers make them and they hardly matter.
    static let noticed: Int64 = 60
    /// First key of leads in the table `cut`; they follow in order.
    static let firstKey: Int64 = 1 << 16
    /// Allowed leads, in seconds: up to 35,000 years.
    static let range = -Int64(1 << 40)...Int64(1 << 40)

    /// In the order of the rows to which they apply; empty if no lead is known.
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

    /// Adds an entry after the others. It may come from another log's copy.
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

    /// Removes entries that apply only to deleted rows. `event` and `fact` are the last deleted.
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

    /// Adds an entry from a row with a valid checksum; call it in the order of keys. Returns false
    /// if the row has values that no log writes.
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
