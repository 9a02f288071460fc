import TomboloCore
import TomboloEventLog

/// By how much the relay's wall clock was ahead of its steady one, and for which rows.
///
/// Rows tell the wall time at which they were recorded. Their age is counted on the steady clock,
/// which nobody sets: a wall clock that jumps ahead makes no row older, and one that was ahead and
/// is set right makes none younger. Time in which the machine was off does not count.
struct ClockLeads {
    /// As rows have it.
    struct Entry: BitwiseCopyable {
        /// The first event, and the first fact, that it is for.
        var first: ByKind<Int64>
        var seconds: Int64

        var lead: Span { .seconds(seconds) }
    }

    /// Smaller changes are a time server's: no row grows noticeably older by them. In seconds.
    static let noticed: Int64 = 60
    /// Their rows are those of the table `cut` from this key on, in their order.
    static let firstKey: Int64 = 1 << 16
    /// Seconds that a lead may have: 35,000 years.
    static let range = -Int64(1 << 40)...Int64(1 << 40)

    /// In the order of their rows; empty where no lead is known.
    private(set) var entries: [Entry] = []
    /// Those of the rows.
    private var keys: [Int64] = []

    /// As of now.
    var now: Span { entries.last?.lead ?? .zero }
    /// The least of all rows that are kept.
    var least: Span { entries.map(\.lead).min() ?? .zero }

    /// That of an event or a fact.
    func lead(_ kind: TenantSeqs.Kind, _ seq: Int64) -> Span {
        (entries.last { $0.first[kind] <= seq } ?? entries.first)?.lead ?? .zero
    }

    /// It is `lead` from the next rows on; the first one told is that of all rows before too.
    mutating func note(
        _ lead: Span, from next: ByKind<Int64>, _ engine: any LogWriting
    ) throws(EventLogError) {
        let seconds = floorDivide(lead.nanoseconds, Span.seconds(1).nanoseconds)
        if let last = entries.last, abs(seconds - last.seconds) < Self.noticed { return }
        let first = entries.isEmpty ? ByKind(event: 0, fact: 0) : next
        try add(Entry(first: first, seconds: seconds), engine)
    }

    /// Takes over an entry, of another log too, which comes after the others.
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

    /// Forgets those of rows that are gone.
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

    /// Takes a row over, whose checksum is right; rows come in the order of their keys. False where
    /// no log can have written it.
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
