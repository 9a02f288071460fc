import Testing

@testable import TomboloCore

@Suite struct ValuesTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00.000Z"),
        ("2026-11-20T09:03:00Z", 1_795_165_380_000, "2026-11-20T09:03:00.000Z"),
        ("2026-11-20T10:03:00.125+01:00", 1_795_165_380_125, "2026-11-20T09:03:00.125Z"),
        ("2024-02-29T23:59:59.999999999Z", 1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
        ("1969-12-31T23:59:59.5Z", -500, "1969-12-31T23:59:59.500Z"),
        ("2100-03-01t00:00:00z", 4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
    ])
    func `times of RFC 3339 are read and written`(
        _ text: String, _ milliseconds: Int64, _ written: String
    ) {
        let instant = Instant(rfc3339: text)
        #expect(instant?.milliseconds == milliseconds)
        #expect(instant?.rfc3339 == written)
    }

    @Test(arguments: [
        "", "2026-11-20", "2026-11-20T09:03:00", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-11-31T00:00:00Z", "2026-11-20T24:00:00Z", "2026-11-20T09:60:00Z",
        "0001-01-01T00:00:00Z",
        "2026-11-20T09:03:00.Z", "2026-11-20T09:03:00Z ", "2026-11-20T09:03:00+24:00",
        "9999-01-01T00:00:00Z",
    ])
    func `an invalid time is refused`(_ text: String) {
        #expect(Instant(rfc3339: text) == nil)
    }

    @Test(arguments: [
        ("0001-01-01T00:00:00Z", "1678-01-01T00:00:00.000Z"),
        ("1677-12-31T23:59:59.999-01:00", "1678-01-01T00:00:00.000Z"),
        ("1678-01-01T00:00:00.5Z", "1678-01-01T00:00:00.500Z"),
        ("2026-11-20T10:03:00.125+01:00", "2026-11-20T09:03:00.125Z"),
        ("2261-12-31T23:59:59.999Z", "2261-12-31T23:59:59.999Z"),
        ("9999-12-31T23:59:59Z", "2262-01-01T00:00:00.000Z"),
        ("9999-02-29T00:00:00Z", nil), ("0001-01-01", nil),
    ])
    func `a year out of range counts as the nearest valid year`(
        _ text: String, _ written: String?
    ) {
        #expect(Instant(nearest: text)?.rfc3339 == written)
    }

    @Test(arguments: [
        (7_199_998_123_456, "2h"), (754_999_999_999, "12m35s"), (1_234_567_891, "1.235s"),
        (400_000, "0s"), (Int64.max, "106751d23h"), (90_000_000_000, "1m30s"),
        (7_140_000_000_000, "1h59m"), (34_559_940_000_000_000, "400d"),
        (34_556_400_000_000_000, "399d23h"), (86_399_000_000_000, "1d"), (8_500_000_000, "8.5s"),
        (9_999_600_000, "10s"), (3_599_900_000_000, "1h"),
    ])
    func `people read at most two units, and no nanoseconds`(_ nanoseconds: Int64, _ text: String) {
        #expect(Span(nanoseconds: nanoseconds).roundedText == text)
    }

    @Test(arguments: [
        ("90s", 90_000), ("100ms", 100), ("10m", 600_000), ("8h", 28_800_000), ("1.5s", 1_500),
        ("1h30m", 5_400_000), ("100d", 8_640_000_000), ("0s", 0),
    ])
    func `durations are read, and written so that they are read the same`(
        _ text: String, _ milliseconds: Int64
    ) {
        let span = Span(text: text)
        #expect(span == .milliseconds(milliseconds))
        #expect(span.flatMap { Span(text: $0.text) } == span)
    }

    @Test func `each length is read from its text as it was written`() {
        var chance = Chance(1)
        var lengths: [Int64] = [1, 999, 1_000, 999_999, 1_000_001, 863_999_999_999_999]
        for _ in 0..<2_000 { lengths.append(Int64(chance.next() % 8_640_000_000_000_000)) }
        for edge in lengths {
            let text = Span(nanoseconds: edge).text
            #expect(Span(text: text)?.nanoseconds == edge, "\(text)")
        }
        #expect(Span(nanoseconds: 1_000).text == "0.000001s")
        #expect(Span(nanoseconds: -1_500_000_000).text == "-1.5s")
    }

    @Test(arguments: [
        "", "90", "s", "-1s", "1 s", "101d", "1e3s", "1x", "99999999999d", "..s", "60d60d",
    ])
    func `an invalid duration is refused`(_ text: String) {
        #expect(Span(text: text) == nil)
    }

    @Test func `an identifier has 1 to 128 characters of its set`() {
        #expect(Identifier("a") != nil)
        #expect(Identifier(String(repeating: "a", count: 128)) != nil)
        #expect(Identifier(String(repeating: "a", count: 129)) == nil)
        for text in ["", "a~2", "a/b", "a b", "ä", "a\n", "a%41"] {
            #expect(Identifier(text) == nil)
        }
    }

    @Test func `an incarnation from the second on has its number in its name`() {
        #expect(ActivityReference("cat-7")?.incarnation == 1)
        #expect(ActivityReference("cat-7~2")?.incarnation == 2)
        #expect(ActivityReference("cat-7~2")?.text == "cat-7~2")
        #expect(ActivityReference("cat-7~1.3")?.renewal == 3)
        #expect(ActivityReference("cat-7~2.1")?.text == "cat-7~2.1")
        for text in ["~2", "cat~1", "cat~0", "cat~", "cat~02", "cat~2~3", "cat~x"] {
            #expect(ActivityReference(text) == nil)
        }
    }

    @Test func `instants stay at the ends of their range`() {
        #expect(Instant.distantFuture + .hours(1) == .distantFuture)
        #expect(Instant.distantPast - .hours(1) == .distantPast)
        #expect(Instant.distantFuture - Instant.distantPast == Span(nanoseconds: .max))
        #expect(Instant(nanoseconds: -1).seconds == -1)
    }

    @Test func `steady time never goes back, whatever the wall clock does`() {
        var clock = RelayClock(wall: Instant(seconds: 1_000), monotonic: 5_000_000_000)
        var steady = clock.steady(monotonic: 6_000_000_000)
        #expect(steady == Instant(seconds: 1_001))
        steady = clock.steady(monotonic: 5_500_000_000)
        #expect(steady == Instant(seconds: 1_001))
        let moved = clock.follow(wall: Instant(seconds: 10), monotonic: 7_000_000_000)
        #expect(!moved)
        #expect(clock.lead == .zero)
    }

    @Test func `a step of the wall clock is followed by a minute at once, else when it has held`() {
        var clock = RelayClock(wall: Instant(seconds: 1_000), monotonic: 0)
        var leads: [Span] = []
        func look(at second: Int64, ahead: Int64) {
            _ = clock.follow(
                wall: Instant(seconds: 1_000 + second + ahead), monotonic: second * 1_000_000_000)
            leads.append(clock.lead)
        }
        look(at: 0, ahead: 5)
        look(at: 1, ahead: 1)
        look(at: 60, ahead: 1)
        #expect(leads == [.seconds(5), .seconds(5), .seconds(5)])
        look(at: 61, ahead: 1)
        #expect(clock.lead == .seconds(1), "it went back for a minute")
        look(at: 62, ahead: 7_200)
        #expect(clock.lead == .seconds(61))
        look(at: 122, ahead: 7_200)
        #expect(clock.lead == .seconds(7_200))
        look(at: 123, ahead: 0)
        #expect(clock.lead == .seconds(7_200))
        #expect(clock.behind == .seconds(7_200))
        look(at: 183, ahead: 0)
        #expect(clock.lead == .zero)
        #expect(clock.behind == .zero, "no card has a later timestamp")
        #expect(clock.steady(monotonic: 183_000_000_000) == Instant(seconds: 1_183))
    }

    @Test func `a reading that is the last one lets nothing go beyond it, and is read back`() throws
    {
        var clock = RelayClock(wall: Instant(seconds: 1_000), monotonic: 0, boot: "a")
        var reading = clock.reading(monotonic: 0, boot: "a")
        reading.isLast = true
        #expect(reading.toldThrough == Instant(seconds: 1_000))
        let read = try #require(RelayClock.Reading(record: reading.record))
        let next = RelayClock(
            wall: Instant(seconds: 1_005), monotonic: 5_000_000_000, boot: "a", after: read)
        #expect(next.before?.endedInOrder == true)
    }

    @Test func `a later relay goes on with the clock of the one before, whatever the wall says`() {
        var first = RelayClock(wall: Instant(seconds: 1_000), monotonic: 0, boot: "a")
        let reading = first.reading(monotonic: 10_000_000_000, boot: "a")
        var next = RelayClock(
            wall: Instant(seconds: 9_000), monotonic: 70_000_000_000, boot: "a", after: reading)
        #expect(next.steady(monotonic: 70_000_000_000) == Instant(seconds: 1_070))
        #expect(next.lead == .seconds(9_000 - 1_070))
        #expect(next.before?.toldThrough == Instant(seconds: 1_010) + RelayClock.reach)
        _ = next.follow(wall: Instant(seconds: 99_000), monotonic: 70_000_000_000)
        #expect(next.lead == .seconds(9_000 - 1_070 + 60))
    }

    @Test func `a later relay on another machine goes on, if it knows the other clock`() {
        var first = RelayClock(wall: Instant(seconds: 1_000), monotonic: 0, boot: "a")
        let reading = first.reading(monotonic: 10_000_000_000, boot: "a")
        func next(elsewhere: Int64?) -> RelayClock {
            RelayClock(
                wall: Instant(seconds: 1_076), monotonic: 5, boot: "b", after: reading,
                elsewhere: elsewhere)
        }
        var known = next(elsewhere: 70_000_000_000)
        #expect(known.steady(monotonic: 5) == Instant(seconds: 1_070))
        #expect(known.lead == .seconds(6))
        // Timestamps of the first one end where its time ended.
        #expect(known.before?.toldThrough == Instant(seconds: 1_040))
        #expect(next(elsewhere: 12_000_000_000).before?.toldThrough == Instant(seconds: 1_012))
        var unknown = next(elsewhere: nil)
        #expect(unknown.steady(monotonic: 5) == Instant(seconds: 1_010))
        var earlier = next(elsewhere: 1)
        #expect(earlier.steady(monotonic: 5) == Instant(seconds: 1_010))
    }

    @Test func `a clock that was set between two relays is known by the boot's own`() {
        var first = RelayClock(wall: Instant(seconds: 1_000), monotonic: 0, boot: "a")
        let reading = first.reading(monotonic: 10_000_000_000, boot: "a")
        func step(wall: Int64, boot: String) -> Span {
            RelayClock(
                wall: Instant(seconds: wall), monotonic: 70_000_000_000, boot: boot,
                after: reading
            ).stepAtStart
        }
        #expect(step(wall: 1_070 + 61, boot: "a") == .seconds(61))
        #expect(step(wall: 1_070 + 60, boot: "a") == .zero)
        #expect(step(wall: 1_070 - 60, boot: "a") == .zero)
        #expect(step(wall: 500, boot: "a") == .seconds(-570))
        #expect(step(wall: 9_000, boot: "b") == .zero, "it may have been off for as long")
    }

    @Test func `soon after the last reading no more was told than time has passed`() {
        var first = RelayClock(wall: Instant(seconds: 1_000), monotonic: 0, boot: "a")
        let reading = first.reading(monotonic: 10_000_000_000, boot: "a")
        let next = RelayClock(
            wall: Instant(seconds: 9_000), monotonic: 15_000_000_000, boot: "a", after: reading)
        #expect(next.before?.toldThrough == Instant(seconds: 1_015))
    }

    @Test func `after another boot no time is counted as passed`() {
        var first = RelayClock(wall: Instant(seconds: 1_000), monotonic: 0, boot: "a")
        let reading = first.reading(monotonic: 10_000_000_000, boot: "a")
        for boot in ["b", ""] {
            var next = RelayClock(
                wall: Instant(seconds: 5_000), monotonic: 70_000_000_000, boot: boot,
                after: reading)
            #expect(next.steady(monotonic: 70_000_000_000) == Instant(seconds: 1_010))
            #expect(next.lead == .seconds(5_000 - 1_010))
            #expect(next.before?.toldThrough == Instant(seconds: 1_010) + RelayClock.reach)
        }
    }

    @Test func `a reading of the clock is read as it was written, and nothing else is`() {
        var clock = RelayClock(wall: Instant(seconds: 1_000), monotonic: 0, boot: "a")
        let reading = clock.reading(monotonic: 0, boot: "a")
        #expect(RelayClock.Reading(record: reading.record) == reading)
        #expect(RelayClock.Reading(record: Record(space: .relay, number: 1, value: [1])) == nil)
        #expect(
            RelayClock.Reading(record: Record(space: .checkpoint, number: 1, value: nil)) == nil)
    }

    @Test func `the nearest name is suggested, and nothing where none is near`() {
        #expect(nearestName(to: "sate", among: ["state", "alert"]) == "state")
        #expect(nearestName(to: "audeince", among: ["audience", "alert"]) == "audience")
        #expect(nearestName(to: "colour", among: ["state", "alert"]) == nil)
    }

    @Test func `a bucket gives its burst, then one each interval, and never more`() {
        let grant = Grant(
            spacing: .zero, burst: 3, perHour: 60, reserve: 0, lowPrioritySpacing: .zero)
        var bucket = TokenBucket()
        let start = Instant(seconds: 1_000_000)
        for _ in 0..<3 {
            #expect(bucket.time(keeping: 0, of: grant, now: start) == start)
            bucket.take(grant, now: start)
        }
        #expect(bucket.left(grant, now: start) == 0)
        #expect(bucket.time(keeping: 0, of: grant, now: start) == start + .seconds(60))
        #expect(bucket.time(keeping: 2, of: grant, now: start) == start + .seconds(180))
        #expect(bucket.time(keeping: 3, of: grant, now: start) == nil)
        #expect(bucket.left(grant, now: start + .seconds(60)) == 1)
        #expect(bucket.left(grant, now: start + .hours(100)) == 3)
    }

    @Test func `deadlines come in order, however they were set and moved`() {
        var heap = DeadlineHeap<Tables.Activities>()
        var chance = Chance(3)
        var model: [ActivitySlot: Instant] = [:]
        for _ in 0..<5_000 {
            let slot = ActivitySlot(Int(chance.next() % 200))
            let at =
                chance.next() % 5 == 0 ? nil : Instant(nanoseconds: Int64(chance.next() % 1_000))
            heap.set(slot, at: at)
            model[slot] = at
        }
        #expect(heap.count == model.count)
        var last = Instant.distantPast
        while let slot = heap.pop(until: .distantFuture) {
            #expect(model[slot]! >= last)
            last = model.removeValue(forKey: slot)!
        }
        #expect(model.isEmpty)
    }
}
