import Testing
import TomboloCore

@testable import TomboloProgram

/// The time of a question as somebody types it.
@Suite struct WhyMomentTests {
    private func time(_ text: String, at now: String) throws -> String? {
        let seconds = try #require(Instant(rfc3339: now)).seconds
        return try WhyCommand.Moment(text, at: Int(seconds)).time
    }

    @Test(arguments: [
        ("04:21", "2026-11-23T05:00:00Z", "2026-11-23T04:21:59.999Z"),
        ("04:21", "2026-11-23T04:21:01Z", "2026-11-23T04:21:01.999Z"),
        ("04:21", "2026-11-23T04:20:59Z", "2026-11-22T04:21:59.999Z"),
        ("04:21:01", "2026-11-23T05:00:00Z", "2026-11-23T04:21:01.999Z"),
        ("2026-11-20T14:02:00Z", "2026-11-23T05:00:00Z", "2026-11-20T14:02:00.000Z"),
    ])
    func `a minute is meant whole, up to now`(text: String, now: String, end: String) throws {
        #expect(try time(text, at: now) == end)
    }
}
