import TomboloCore
import TomboloEventLog

/// By how much the relay's wall clock was ahead of its steady one, and for which rows.
///
/// Rows tell the wall time at which they were recorded. Their age is counted on the steady clock,
/// which nobody sets: a wall clock that jumps ahead makes no row older, and one that was ahead and
/// is set right makes none younger. Time in which the machine was off does not count.
struct ClockLeads {
    struct Entry: Hashable {
        /// The first event, and the first fact, that it is for.
        var event: Int64
        var fact: Int64
        var seconds: Int64
        /// Of its row.
        fileprivate var key: Int64

        var lead: Span { .seconds(seconds) }
        fileprivate var numbers: Numbers { (event, fact, seconds) }
    }

    fileprivate typealias Numbers = (event: Int64, fact: Int64, seconds: Int64)

    /// Smaller changes are a time server's: no row grows noticeably older by them. In seconds.
    static let noticed: Int64 = 60
    /// Their rows are those of the table `cut` from this key on, in their order.
    static let firstKey: Int64 = 1 << 16
    /// Seconds that a lead may have: 35,000 years.
    static let range = -Int64(1 << 40)...Int64(1 << 40)

    /// In the order of their rows; empty where no lead is known.
    private(set) var entries: [Entry] = []

    /// As of now.
    var now: Span { entries.last?.lead ?? .zero }
    /// The least of all rows that are kept.
    var least: Span { entries.map(\.lead).min() ?? .zero }

    func lead(event seq: Int64) -> Span {
        (entries.last { $0.event <= seq } ?? entries.first)?.lead ?? .zero
    }

    func lead(fact seq: Int64) -> Span {
        (entries.last { $0.fact <= seq } ?? entries.first)?.lead ?? .zero
    }

    /// It is `lead` from the next rows on; the first one told is that of all rows before too.
    mutating func note(
        _ lead: Span, nextEvent event: Int64, nextFact fact: Int64,
        _ engine: any LogWriting
    ) throws(EventLogError) {
        let seconds = floorDivide(lead.nanoseconds, Span.seconds(1).nanoseconds)
        if let last = entries.last, abs(seconds - last.seconds) < Self.noticed { return }
        try add(
            entries.isEmpty ? (0, 0, seconds) : (event, fact, seconds), engine)
    }

    /// Takes over an entry of another log, which comes after the others.
    mutating func add(
        _ numbers: (event: Int64, fact: Int64, seconds: Int64), _ engine: any LogWriting
    ) throws(EventLogError) {
        var key = entries.last.map { $0.key + 1 } ?? Self.firstKey
        if let last = entries.last, (last.event, last.fact) == (numbers.event, numbers.fact) {
            key = last.key
            entries.removeLast()
        }
        entries.append(
            Entry(event: numbers.event, fact: numbers.fact, seconds: numbers.seconds, key: key))
        try LogCut.put(key, numbers, engine)
    }

    /// Forgets those of rows that are gone.
    mutating func cut(
        event: Int64, fact: Int64, _ engine: any LogWriting
    ) throws(EventLogError) {
        while entries.count > 1, entries[1].event <= event + 1, entries[1].fact <= fact + 1 {
            let old = entries.removeFirst()
            try engine.delete(.cut, old.key)
        }
    }

    // MARK: Rows of the table `cut`

    /// Takes a row over, whose checksum is right; rows come in the order of their keys. False where
    /// no log can have written it.
    mutating func recover(_ key: Int64, _ row: RawSpan) -> Bool {
        guard let found = row.numbers(Numbers.self), Self.isPossible(found) else { return false }
        entries.append(
            Entry(event: found.event, fact: found.fact, seconds: found.seconds, key: key))
        return true
    }

    private static func isPossible(_ numbers: Numbers) -> Bool {
        let range = 0...LogTable.numberMax
        return range.contains(numbers.event) && range.contains(numbers.fact)
            && Self.range.contains(numbers.seconds)
    }

    func store(_ engine: any LogWriting) throws(EventLogError) {
        for entry in entries { try LogCut.put(entry.key, entry.numbers, engine) }
    }
}
