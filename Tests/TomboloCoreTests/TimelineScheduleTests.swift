import Testing

@testable import TomboloCore

@Suite struct TimelineScheduleTests {
    private static let berlin = RuledZones.rules("CET-1CEST,M3.5.0,M10.5.0/3")!

    private func schedule(_ weekday: Int64?, _ hours: Int64, _ minutes: Int64 = 0)
        -> TimelineSchedule
    {
        TimelineSchedule(
            weekday: weekday,
            time: TimelineSchedule.time(hours: hours, minutes: minutes, seconds: 0),
            zone: .named("Europe/Berlin"), count: 3)
    }

    private func next(
        _ schedule: TimelineSchedule, after text: String, count: Int = 3
    ) -> [String] {
        schedule.boundaries(after: Instant(rfc3339: text)!, count: count, in: Self.berlin)
            .map(\.rfc3339InSeconds)
    }

    @Test func `the next Monday is the first 06:00 that is later`() {
        let monday = schedule(1, 6)
        // Asked on a Sunday it is tomorrow.
        #expect(
            next(monday, after: "2026-11-22T12:00:00Z") == [
                "2026-11-23T05:00:00Z", "2026-11-30T05:00:00Z", "2026-12-07T05:00:00Z",
            ])
        // At 06:00:00 sharp it is in a week; a second before, it is at once.
        #expect(next(monday, after: "2026-11-23T05:00:00Z", count: 1) == ["2026-11-30T05:00:00Z"])
        #expect(next(monday, after: "2026-11-23T04:59:59Z", count: 1) == ["2026-11-23T05:00:00Z"])
        let sharp = Instant(rfc3339: "2026-11-23T05:00:00Z")!
        #expect(monday.boundary(notAfter: sharp, in: Self.berlin) == sharp)
        #expect(
            monday.boundary(notAfter: sharp - .seconds(1), in: Self.berlin)
                == sharp - .hours(7 * 24))
        // Over a change of the clocks it stays six o'clock.
        #expect(
            next(monday, after: "2026-10-20T00:00:00Z", count: 1) == ["2026-10-26T05:00:00Z"])
        #expect(
            next(monday, after: "2026-10-18T00:00:00Z", count: 1) == ["2026-10-19T04:00:00Z"])
    }

    @Test func `a day whose time is leapt over has its boundary all the same`() {
        let early = schedule(nil, 2, 30)
        #expect(
            next(early, after: "2026-03-28T01:00:00Z") == [
                "2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z",
            ])
        #expect(
            next(early, after: "2026-10-24T01:00:00Z") == [
                "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z", "2026-10-27T01:30:00Z",
            ])
    }

    @Test func `where time ends there are no more, and nothing hangs`() {
        let daily = schedule(nil, 6)
        for moment in [Instant.distantPast, .distantFuture, Instant(seconds: 9_223_372_000)] {
            let found = daily.boundaries(after: moment, count: 400, in: Self.berlin)
            #expect(found.count <= 400)
            _ = daily.boundary(notAfter: moment, in: Self.berlin)
        }
    }

    @Test func `four hundred days are found, and each is later than the one before`() {
        let all = schedule(nil, 2, 30).boundaries(
            after: Instant(seconds: 1_700_000_000), count: 400, in: Self.berlin)
        #expect(all.count == 400)
        #expect(zip(all, all.dropFirst()).allSatisfy(<))
    }
}
