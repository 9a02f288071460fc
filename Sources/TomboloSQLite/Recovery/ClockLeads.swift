import TomboloCore

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

        var lead: Span { .seconds(seconds) }
        fileprivate var name: String { "\(ClockLeads.prefix)\(event) \(fact)" }
    }

    /// Smaller changes are a time server's: no row grows noticeably older by them.
    private static let noticed: Int64 = 60
    private static let prefix = "lead "
    /// Rows of `cut` have no negative numbers: 35,000 years.
    private static let offset: Int64 = 1 << 40

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
        _ connection: borrowing Connection
    ) throws(SQLiteError) {
        let seconds = floorDivide(lead.nanoseconds, Span.seconds(1).nanoseconds)
        if let last = entries.last, abs(seconds - last.seconds) < Self.noticed { return }
        var entry = Entry(event: event, fact: fact, seconds: seconds)
        if entries.isEmpty { (entry.event, entry.fact) = (0, 0) }
        if entries.last?.name == entry.name { entries.removeLast() }
        entries.append(entry)
        try store([entry], connection)
    }

    /// Forgets those of rows that are gone.
    mutating func cut(
        event: Int64, fact: Int64, _ connection: borrowing Connection
    ) throws(SQLiteError) {
        while entries.count > 1, entries[1].event <= event + 1, entries[1].fact <= fact + 1 {
            let old = entries.removeFirst()
            try connection.execute("DELETE FROM cut WHERE name = '\(old.name)'")
        }
    }

    // MARK: Rows of the table `cut`

    /// Takes a row over; false where it is none of these.
    mutating func recover(_ name: String, _ value: Int64) -> Bool {
        let parts = name.split(separator: " ")
        guard name.hasPrefix(Self.prefix), parts.count == 3, let event = Int64(parts[1]),
            let fact = Int64(parts[2])
        else { return false }
        entries.append(Entry(event: event, fact: fact, seconds: value - Self.offset))
        entries.sort { ($0.event, $0.fact) < ($1.event, $1.fact) }
        return true
    }

    func store(_ connection: borrowing Connection) throws(SQLiteError) {
        try store(entries, connection)
    }

    private func store(
        _ entries: [Entry], _ connection: borrowing Connection
    ) throws(SQLiteError) {
        try LogCut.store(entries.map { ($0.name, $0.seconds + Self.offset) }, connection)
    }
}
