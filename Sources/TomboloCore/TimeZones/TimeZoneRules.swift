import TomboloJSON

/// The rules of one time zone in the IANA database: the offset from UTC at each time.
///
/// The caller passes the bytes of the zone's file; nothing is read from the system. Leap seconds do
/// not count, as in POSIX.
package struct TimeZoneRules: Hashable, Sendable {
    /// From `at` (seconds since 1970) on, clocks are `offset` seconds ahead of UTC.
    struct Change: Hashable, Sendable {
        var at: Int64
        var offset: Int64
    }

    /// The offset before the first change.
    private let first: Int64
    private let changes: [Change]
    /// The rule after the last change; nil if the last offset stays forever.
    private let rule: PosixZoneRule?

    init(first: Int64, changes: [Change], rule: PosixZoneRule?) {
        self.first = first
        self.changes = changes
        self.rule = rule
    }

    package static let utc = TimeZoneRules(first: 0, changes: [], rule: nil)

    /// How far the zone's clocks are ahead of UTC.
    package func offset(at instant: Instant) -> Span { .seconds(offset(at: instant.seconds)) }

    /// The time on the zone's clocks, as seconds since 1970 on these clocks.
    func localSeconds(at instant: Instant) -> Int64 {
        instant.seconds + offset(at: instant.seconds)
    }

    private func offset(at seconds: Int64) -> Int64 {
        if let rule, changes.last.map({ $0.at <= seconds }) ?? true {
            return rule.offset(at: seconds)
        }
        let later = index(after: seconds)
        return later == 0 ? first : changes[later - 1].offset
    }

    /// Index of the first change after this time; `endIndex` if there is none.
    private func index(after seconds: Int64) -> Int {
        var (low, high) = (0, changes.count)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle].at <= seconds { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The instant at which the zone's clocks show `local`, which counts seconds since 1970 on
    /// these clocks. If the clocks show it twice, the first instant is returned. If they skip it,
    /// the instant of the skip is returned.
    func instant(ofLocal local: Int64) -> Instant {
        let near = local - Self.reach...local + Self.reach
        var before = offset(at: near.lowerBound)
        // Fast path: on most days no change is near.
        if before == offset(at: near.upperBound),
            index(after: near.lowerBound) == index(after: near.upperBound)
        {
            return Instant(seconds: local - before)
        }
        var found = candidate(local, before)
        var leap: Int64?
        for change in changes(in: near) {
            if let next = candidate(local, change.offset) { found = min(found ?? next, next) }
            if change.at + before <= local, local < change.at + change.offset {
                leap = leap ?? change.at
            }
            before = change.offset
        }
        return Instant(seconds: found ?? leap ?? local - before)
    }

    /// More than any offset, and more than any change of an offset.
    private static let reach: Int64 = 2 * 86_400

    private func candidate(_ local: Int64, _ offset: Int64) -> Int64? {
        self.offset(at: local - offset) == offset ? local - offset : nil
    }

    private func changes(in range: ClosedRange<Int64>) -> [Change] {
        let listed = changes[index(after: range.lowerBound - 1)..<index(after: range.upperBound)]
        guard let rule, changes.last.map({ $0.at < range.upperBound }) ?? true else {
            return Array(listed)
        }
        let begin = CivilDate(days: floorDivide(range.lowerBound, 86_400)).year
        let end = CivilDate(days: floorDivide(range.upperBound, 86_400)).year
        let later = rule.changes(inYears: begin...end).filter { change in
            range.contains(change.at) && (changes.last.map { $0.at < change.at } ?? true)
        }
        return listed + later
    }
}

/// Where time zone rules come from: the machine's copy of the IANA database.
package protocol TimeZoneSource: Sendable {
    /// The rules of a zone such as `Europe/Berlin`; nil for an unknown name.
    func rules(of name: String) -> TimeZoneRules?
}

/// What is wrong with a time zone's file.
package struct TimeZoneError: Error, Hashable, Sendable {
    package var message: String
}
