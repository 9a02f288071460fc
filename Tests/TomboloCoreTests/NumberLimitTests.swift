import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// Numbers from outside at the ends of their ranges, and past them.
@Suite struct NumberLimitTests {
    private static func content(_ kind: EventKind, _ text: String) throws -> Command.Content {
        try Command.Content(kind: kind, Rig.json(text))
    }

    private static func clip(_ text: String) throws -> Clip {
        guard case .play(let clip) = try content(.play, text) else {
            throw FieldErrors([FieldError(pointer: "", message: "is no clip")])
        }
        return clip
    }

    private static func flipbook(every: String, loop: Int64) -> String {
        #"{"flipbook":{"path":"/a","frames":[1,2,3],"every":"\#(every)","loop":\#(loop)}}"#
    }

    private static func pointers(_ kind: EventKind, _ text: String) -> [String] {
        do throws(FieldErrors) {
            _ = try Command.Content(kind: kind, Rig.json(text))
            return []
        } catch {
            return error.errors.map(\.pointer)
        }
    }

    // MARK: Flip-books

    @Test func `a flip-book plays a hundred years at most, or for ever`() throws {
        // 3 frames of an hour, 292,000 times: 876,000 hours.
        let longest = try Self.clip(Self.flipbook(every: "1h", loop: 292_000))
        #expect(longest.duration == Flipbook.durationMax)
        for loop: Int64 in [292_001, 1_000_000] {
            let text = Self.flipbook(every: "1h", loop: loop)
            #expect(Self.pointers(.play, text) == ["/flipbook/loop"])
        }
        let short = try Self.clip(Self.flipbook(every: "10ms", loop: 1_000_000))
        #expect(short.duration == .seconds(30_000))
        #expect(short.asked(after: Span(nanoseconds: .max)) == 3_000_000)
        #expect(short.value(at: Span(nanoseconds: .max)).bytes == Array("3".utf8))
    }

    // MARK: Durations

    @Test func `a sum of durations is at most a hundred days, and sixty-four bytes`() {
        #expect(Span(text: "99d24h") == Span.textMax)
        #expect(Span(text: "99d24h1ms") == nil)
        #expect(Span(text: String(repeating: "100d", count: 2)) == nil)
        #expect(Span(text: String(repeating: "100d", count: 1_068)) == nil)
        let parts = String(repeating: "1ms", count: 21)
        #expect(Span(text: "\(parts)") == .milliseconds(21))
        #expect(Span(text: "\(parts)0s") == nil)
    }

    @Test(arguments: ["stale_after", "alert_ttl"])
    func `a duration beyond its range is refused, however it is written`(_ name: String) {
        let text = String(repeating: "100d", count: 1_068)
        #expect(
            Self.pointers(.update, #"{"state":{},"\#(name)":"\#(text)"}"#) == ["/\(name)"])
    }

    // MARK: Tweens

    @Test func `numbers of a tween are at most a million millions, in every shape`() {
        for (from, to) in [("[%]", "[0]"), ("%", "0"), (#"{"x":%}"#, #"{"x":1}"#)] {
            for (number, isTaken) in [
                ("1e12", true), ("-1e12", true), ("1.000001e12", false), ("1e306", false),
                ("-1e306", false),
            ] {
                let start = from.replacing("%", with: number)
                let refused = Self.pointers(
                    .play, #"{"tween":{"path":"/a","from":\#(start),"to":\#(to)}}"#)
                #expect(refused == (isTaken ? [] : ["/tween/from"]), "\(start)")
            }
        }
    }

    @Test func `points of a timing curve have bounds`() {
        for (points, isTaken) in [
            ("0,1000,1,-1000", true), ("0,1000.5,1,0", false), ("0,0,1,-1001", false),
            ("0.5,1e308,0.5,1e308", false), ("-0.1,0,1,1", false), ("0,0,1.1,1", false),
        ] {
            let refused = Self.pointers(
                .play,
                #"{"tween":{"path":"/a","to":1,"easing":{"cubicBezier":[\#(points)]}}}"#)
            #expect(refused == (isTaken ? [] : ["/tween/easing/cubicBezier"]), "\(points)")
        }
    }

    /// Every easing at its ends, from end to end of the numbers.
    private static let wildest = [
        #"{"cubicBezier":[0,1000,1,-1000]}"#, #"{"cubicBezier":[0,1000,0,1000]}"#,
        #"{"cubicBezier":[1,-1000,1,-1000]}"#, #"{"cubicBezier":[0.5,1000,0.5,-1000]}"#,
        #"{"spring":{"duration":"10ms","bounce":0.95}}"#,
        #"{"spring":{"duration":"10ms","bounce":-0.95}}"#,
        #"{"spring":{"duration":"1h","bounce":0.95}}"#,
        #"{"spring":{"duration":"1h","bounce":1e-16}}"#,
        #"{"spring":{"duration":"10ms","bounce":-1e-16}}"#,
    ]

    @Test func `a tween has a value at every moment, whatever it takes over from`() throws {
        var running: (Animatable, [Double])?
        var state = Rig.json(#"{"a":-1000000000000}"#).json
        // Each takes over the value and the speed of the one before, at its worst moments.
        for round in 0..<200 {
            let easing = Self.wildest[round % Self.wildest.count]
            let to = round % 2 == 0 ? "1e12" : "-1e12"
            let clip = try Self.clip(
                #"{"tween":{"path":"/a","to":\#(to),"duration":"10ms","easing":\#(easing)}}"#)
            let begun = clip.begun(over: state, following: running)
            let length = try #require(begun.duration)
            for part: Int64 in 0...20 {
                let moment = Span(nanoseconds: length.nanoseconds / 20 * part)
                state = begun.state(state, at: moment)
                let shown = try #require(state.document.root["a"]?.double)
                #expect(shown.magnitude <= 1e15)
            }
            running = begun.moving(at: Span(nanoseconds: length.nanoseconds / 1_000 + 1))
            var writer = JSONWriter()
            begun.write(into: &writer)
            // As a head keeps it, it is read again.
            var reader = FieldReader(writer.json.document.root)
            #expect(Clip(reading: &reader) != nil)
        }
    }

    // MARK: Grants

    @Test func `no bucket is deeper than it fills in ten years`() {
        let hostile = [
            (0.001, Int64(1_000_000)), (1_000_000, 1_000_000), (0.001, .max), (1e308, .max),
            (-1, -1), (.nan, 0), (-.infinity, .min), (.infinity, .max),
        ]
        for (rate, burst) in hostile {
            let grant = Grant(
                spacing: Span(nanoseconds: .max), burst: burst, perHour: rate, reserve: .max,
                lowPrioritySpacing: Span(nanoseconds: .min))
            let now = Instant(seconds: 1_795_000_000)
            for grant in [grant, grant.times(4)] {
                var bucket = TokenBucket(fullAt: .distantFuture, of: grant)
                #expect(bucket.left(grant, now: now) == 0)
                bucket.clamp(grant, now: now)
                #expect(bucket.left(grant, now: now) == 0)
                #expect(bucket.time(keeping: 0, of: grant, now: now)! > now)
                bucket = TokenBucket()
                #expect(bucket.left(grant, now: now) == grant.burst)
                bucket.take(grant, now: now)
                #expect(bucket.left(grant, now: now) == grant.burst - 1)
                #expect(bucket.time(keeping: 0, of: grant, held: grant.burst, now: now)! > now)
                bucket.renew(grant, count: grant.burst, until: now, now: now)
                #expect(bucket.left(grant, now: now) == 0)
            }
        }
    }

    @Test func `the deepest bucket follows from its rate`() {
        #expect(Grant.burstMax(perHour: 0.001) == 87)
        #expect(Grant.burstMax(perHour: 1) == 87_600)
        #expect(Grant.burstMax(perHour: 1_000_000) == Grant.burstRange.upperBound)
        #expect(Grant.burstMax(perHour: .nan) == 87)
    }
}
