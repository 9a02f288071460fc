/// When a timeline's content is due to change, by the clocks of a time zone: `weekly` or `daily`.
package struct TimelineSchedule: Hashable, Sendable {
    /// Whose clocks count.
    package enum Zone: Hashable, Sendable {
        /// Those of the device that asks.
        case device
        /// A zone of the IANA database, such as `Europe/Berlin`.
        case named(String)
    }

    /// 0 is Sunday; nil: each day.
    package var weekday: Int64?
    /// Seconds after midnight: 0 to 86,399.
    package var time: Int64
    package var zone: Zone
    /// Entries that are given for boundaries to come: 1 to `countMax`.
    package var count: Int

    /// A year of days, and more.
    package static let countMax = 400

    /// The first boundaries after a moment, in the order of time. Each is later than the one
    /// before.
    ///
    /// A time that the clocks leap over is the moment of the leap, one that they show twice the
    /// first of the two. A boundary at `moment` itself is not among them.
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

    /// The newest boundary that is not after a moment.
    package func boundary(notAfter moment: Instant, in rules: TimeZoneRules) -> Instant {
        let last = day(at: moment, in: rules) + 1
        for back in Int64(0)..<14 {
            if let found = boundary(on: last - back, in: rules), found <= moment { return found }
        }
        return .distantPast
    }

    /// Seconds after midnight.
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
