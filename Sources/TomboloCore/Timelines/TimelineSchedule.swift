import TomboloJSON

/// When the content of a timeline changes: weekly or daily, by the clocks of a time zone.
package struct TimelineSchedule: Hashable, Sendable {
    /// Whose clocks count.
    package enum Zone: Hashable, Sendable {
        /// Those of the device that reads the timeline.
        case device
        /// A zone of the IANA database, such as `Europe/Berlin`.
        case named(String)
    }

    /// 0 is Sunday; nil: every day.
    package var weekday: Int64?
    /// Seconds after midnight, from 0 to 86,399.
    package var time: Int64
    package var zone: Zone
    /// Number of entries for coming boundaries, from 1 to `countMax`.
    package var count: Int

    /// Maximum of `count`: slightly more than the days of a year.
    package static let countMax = 400

    /// The next `count` boundaries after a moment, ascending. A boundary at `moment` itself does
    /// not count. If the clocks skip the time of day, the boundary is the instant of the skip. If
    /// they show it twice, the boundary is the first of both instants.
    package func boundaries(
        after moment: Instant, count: Int, in rules: TimeZoneRules
    ) -> [Instant] {
        var found: [Instant] = []
        var last = moment
        let first = day(at: moment, in: rules) - 1
        // There can be fewer only at the end of the range of `Instant`.
        for day in first..<first + Int64(count) * 7 + 14 where found.count < count {
            if let next = boundary(on: day, in: rules), next > last {
                found.append(next)
                last = next
            }
        }
        return found
    }

    /// The last boundary that is not after the moment.
    package func boundary(notAfter moment: Instant, in rules: TimeZoneRules) -> Instant {
        let last = day(at: moment, in: rules) + 1
        for back in Int64(0)..<14 {
            if let found = boundary(on: last - back, in: rules), found <= moment { return found }
        }
        return .distantPast
    }

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
