/// When a timeline's content changes, by the clocks of a time zone: `weekly` or `daily`.
package struct TimelineSchedule: Hashable, Sendable {
    /// The zone whose clocks count.
    package enum Zone: Hashable, Sendable {
        /// The zone of the device that asks.
        case device
        /// A zone of the IANA database, such as `Europe/Berlin`.
        case named(String)
    }

    /// 0 is Sunday; nil means every day.
    package var weekday: Int64?
    /// Seconds after midnight: 0 to 86,399.
    package var time: Int64
    package var zone: Zone
    /// Entries for coming boundaries: 1 to `countMax`.
    package var count: Int

    /// A little more than the days of a year.
    package static let countMax = 400

    /// The first boundaries after a moment, strictly ascending. A boundary at `moment` itself is
    /// not included.
    ///
    /// If the clocks skip the time of day, the boundary is the moment of the skip; if they show it
    /// twice, the first of the two.
    package func boundaries(
        after moment: Instant, count: Int, in rules: TimeZoneRules
    ) -> [Instant] {
        var found: [Instant] = []
        var last = moment
        let first = day(at: moment, in: rules) - 1
        // There are fewer only where time itself ends.
        for day in first..<first + Int64(count) * 7 + 14 where found.count < count {
            if let next = boundary(on: day, in: rules), next > last {
                found.append(next)
                last = next
            }
        }
        return found
    }

    /// The newest boundary at or before a moment.
    package func boundary(notAfter moment: Instant, in rules: TimeZoneRules) -> Instant {
        let last = day(at: moment, in: rules) + 1
        for back in Int64(0)..<14 {
            if let found = boundary(on: last - back, in: rules), found <= moment { return found }
        }
        return .distantPast
    }

    /// The time of day in seconds after midnight.
    static func time(hours: Int64, minutes: Int64, seconds: Int64) -> Int64 {
        hours * 3_600 + minutes * 60 + seconds
    }

    private func day(at moment: Instant, in rules: TimeZoneRules) -> Int64 {
        floorDivide(rules.localSeconds(at: moment), 86_400)
    }

    private func boundary(on day: Int64, in rules: TimeZoneRules) -> Instant? {
        guard weekday == nil || weekday == CivilDate.weekday(ofDay: day) else { return nil }
        return rules.instant(ofLocal: day * 86_400 + time)
    }
}
