import Testing

@testable import TomboloSimulator

@Suite struct WallInstantTests {
    @Test(arguments: [
        (Int64(0), "1970-01-01T00:00:00.000000Z"),
        (951_782_400_000_001_000, "2000-02-29T00:00:00.000001Z"),
        (1_700_000_000_123_456_789, "2023-11-14T22:13:20.123456Z"),
        (4_102_444_799_999_999_999, "2099-12-31T23:59:59.999999Z"),
        (-1_000, "1969-12-31T23:59:59.999999Z"),
    ])
    func `an instant is written as RFC 3339 wants it`(nanoseconds: Int64, text: String) {
        #expect(WallInstant(nanoseconds: nanoseconds).rfc3339 == text)
    }

    @Test func `arithmetic stays at the ends`() {
        let end = WallInstant.distantFuture
        #expect(end + .seconds(1) == end)
        #expect(WallInstant(seconds: .max) == end)
        #expect(WallInstant(seconds: 10) - .seconds(3) == WallInstant(seconds: 7))
        #expect(WallInstant(nanoseconds: -1).seconds == -1)
    }

    @Test func `a bucket never grants more than its depth and its refill`() {
        var bucket = TokenBucket(depth: 2, perHour: 60, at: WallInstant(seconds: 0))
        let granted = (0..<600).filter { bucket.take(at: WallInstant(seconds: $0)) }
        #expect(granted.count == 2 + 9)
        #expect(bucket.remaining(at: WallInstant(seconds: 100_000)) == 2)
        #expect(bucket.remaining(at: WallInstant(seconds: 0)) == 0)
    }
}
