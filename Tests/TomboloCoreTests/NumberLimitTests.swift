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
        Rig.faults { try Command.Content(kind: kind, Rig.json(text)) }
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
        #expect(Self.pointers(.update, #"{"state":{},"\#(name)":"\#(text)"}"#) == ["/\(name)"])
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
        var running: PlayingClip?
        let start = Instant(nanoseconds: 0)
        var moment = start
        var state = Rig.json(#"{"a":-1000000000000}"#).json
        // Each takes over the value and the speed of the one before, at its worst moments.
        for round in 0..<200 {
            let easing = Self.wildest[round % Self.wildest.count]
            let to = round % 2 == 0 ? "1e12" : "-1e12"
            let clip = try Self.clip(
                #"{"tween":{"path":"/a","to":\#(to),"duration":"10ms","easing":\#(easing)}}"#)
            let begun = clip.begun(over: state, following: running, at: moment)
            let length = try #require(begun.duration)
            for part: Int64 in 0...20 {
                let elapsed = Span(nanoseconds: length.nanoseconds / 20 * part)
                state = begun.state(state, at: elapsed)
                let shown = try #require(state.document.root["a"]?.double)
                #expect(shown.magnitude <= 1e15)
            }
            running = PlayingClip(version: 1, startedAt: start, clip: begun)
            moment = start + Span(nanoseconds: length.nanoseconds / 1_000 + 1)
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

    // MARK: Time

    @Test func `a clip that began centuries ago has frames, counts and an end`() throws {
        let loop = #"{"flipbook":{"path":"/a","frames":[1,2,3],"every":"10ms"}}"#
        let once = Self.flipbook(every: "1h", loop: 292_000)
        let tween = #"{"fit":"keyframes","tween":{"path":"/a","from":0,"to":1,"duration":"1h"}}"#
        for text in [loop, once, tween] {
            let clip = try Self.clip(text)
            let times = [Instant.distantPast, Instant(seconds: 0), .distantFuture]
            for began in times {
                for wall in times {
                    let playing = PlayingClip(version: 1, startedAt: began, clip: clip)
                    for fit in [Clip.Fit.step, .keyframes, .bundle] {
                        var cursor = FrameCursor(
                            playing, counted: 0, pushed: 0, shownAt: Span(nanoseconds: .max),
                            elapsed: Span(nanoseconds: .min), fit: fit, granted: .seconds(1),
                            now: Instant(seconds: 0), wall: wall)
                        cursor.follow(granted: .seconds(3), now: Instant(seconds: 1), wall: wall)
                        cursor.show(cursor.frame(at: wall), now: Instant(seconds: 2), wall: wall)
                        cursor.enter(.hidden, now: Instant(seconds: 3), wall: wall)
                        cursor.enter(.running, now: Instant(seconds: 4), wall: .distantFuture)
                        _ = cursor.end(now: .distantFuture, wall: wall)
                        #expect(cursor.counts(at: .distantFuture).asked >= 0)
                    }
                }
            }
        }
    }

    @Test func `a checkpoint with any numbers is read, or set aside, and its sums fit`() {
        for number in [Int64.min, -1, 0, 1, .max] {
            let list = Array(repeating: "\(number)", count: 11).joined(separator: ",")
            let seven = Array(repeating: "\(number)", count: 7).joined(separator: ",")
            let text = """
                {"a":\(number),"d":\(number),"i":\(number),"p":1,"v":\(number),"ts":\(number),
                "al":\(number),"b":\(number),"db":\(number),"lu":\(number),"e":[\(number),\(number)],
                "l":[\(list)],"f":[\(seven)],"ft":\(number),"k":\(number),"st":\(number),
                "c":[\(number),\(number),\(number),\(number),\(number)]}
                """
            do throws(StoredValueError) {
                let checkpoint = try Checkpoint(stored: Array(text.utf8))
                #expect(checkpoint.taken.latest.magnitude < 1 << 40)
                #expect(checkpoint.frames.asked >= 0)
                #expect((0...1).contains(number), "\(number)")
            } catch {
                #expect(!(0...1).contains(number), "\(number): \(error)")
            }
        }
    }

    @Test func `points of a touch are within a screen`() {
        func faults(_ touch: String) -> [String] {
            let body = Rig.json(#"{"signals":[{"touch":\#(touch)}]}"#)
            return Rig.faults { try PresenceReport(reading: body) }
        }
        #expect(faults(#"{"x":-1e6,"y":1e6,"width":1,"height":1e6}"#).isEmpty)
        #expect(
            faults(#"{"x":1e308,"y":0,"width":5e-324,"height":844}"#)
                == ["/signals/0/touch/x", "/signals/0/touch/width"])
        #expect(faults(#"{"x":1,"y":1,"height":0.5}"#).count == 2)
    }

    // MARK: Work

    private static func names(_ count: Int, _ letter: String) -> [String] {
        (0..<count).map { "\(letter)\($0 + 10_000)aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" }
    }

    @Test func `of many unknown names twenty are named, and in no time`() throws {
        let members = Self.names(900, "y").map { "\"\($0)\":1" }.joined(separator: ",")
        let known = Self.names(900, "x").map { "\"\($0)\":{}" }.joined(separator: ",")
        let type = Rig.json(#"{"properties":{\#(known)},"additionalProperties":false}"#)
        let schema = try StateSchema(reading: type, at: "")
        let state = Rig.json("{\(members)}")
        let time = processorSeconds {
            #expect(schema.faults(in: state, at: "").count == StateSchema.faultsMax)
            #expect(schema.unknownMembers(in: state, at: "").count == Lint.countMax)
            #expect(Self.pointers(.update, "{\(members)}").count == FieldReader.errorsMax)
        }
        // 70 ms here where nothing else runs, unoptimised; it took minutes.
        #expect(time < 3)
    }

    @Test func `a list that is too long is not looked into, and few faults are kept`() {
        let bad = Array(repeating: "\"x\"", count: 60_000).joined(separator: ",")
        let subject = "\"subject\":{\"user\":\"u\"},\"content\":{}"
        func errors(_ text: String) -> [FieldError] {
            do throws(FieldErrors) {
                _ = try TimelineRequest(reading: Rig.json(text))
                return []
            } catch {
                return error.errors
            }
        }
        let time = processorSeconds {
            #expect(errors("{\(subject),\"links\":[\(bad)]}").map(\.pointer) == ["/links"])
            let entry = "{\"date\":1,\"content\":1,\"links\":[\(bad.prefix(63))]}"
            let entries = Array(repeating: entry, count: 400).joined(separator: ",")
            let all = errors("{\(subject),\"entries\":[\(entries)]}")
            #expect(all.count == FieldReader.errorsMax)
        }
        // It took minutes.
        #expect(time < 3)
    }

    @Test func `a reader who is named twice is refused`() throws {
        func users(_ list: String) throws -> [String] {
            let text =
                "{\"subject\":{\"key\":\"k\"},\"content\":{},\"readers\":{\"users\":[\(list)]}}"
            return try TimelineRequest(reading: Rig.json(text)).timeline.readers
        }
        #expect(try users("\"a\",\"b\"") == ["a", "b"])
        #expect(throws: FieldErrors.self) { try users("\"a\",\"b\",\"a\"") }
    }

    @Test func `of many unknown keywords of a schema twenty are named`() {
        let keywords = Self.names(1_000, "k").map { "\"\($0)\":1" }.joined(separator: ",")
        let faults = Rig.faults { try StateSchema(reading: Rig.json("{\(keywords)}"), at: "") }
        #expect(faults.count == StateSchema.faultsMax)
    }

    @Test func `a schema of more members than a state can have is refused`() {
        for (count, isTaken) in [(1_000, true), (1_001, false)] {
            let known = Self.names(count, "x").map { "\"\($0)\":{}" }.joined(separator: ",")
            // Refused is what the second is to be.
            let schema = try? StateSchema(reading: Rig.json(#"{"properties":{\#(known)}}"#), at: "")
            #expect((schema != nil) == isTaken)
        }
        for (count, isTaken) in [(256, true), (257, false)] {
            let values = (0..<count).map(String.init).joined(separator: ",")
            // The same.
            let schema = try? StateSchema(reading: Rig.json(#"{"enum":[\#(values)]}"#), at: "")
            #expect((schema != nil) == isTaken)
        }
    }

    @Test func `the wildest tween of all components is planned in no time`() throws {
        let values = (0..<64).map { "\"m\($0)\":\($0 * 1_000_000)" }.joined(separator: ",")
        let time = try processorSeconds {
            for easing in Self.wildest + [#"{"cubicBezier":[1,0,1,0]}"#] {
                let clip = try Self.clip(
                    """
                    {"fit":"keyframes","tween":{"path":"/a","from":{\(values)},
                     "to":{\(values.replacing(":", with: ":1"))},"easing":\(easing)}}
                    """)
                _ = clip.begun(
                    over: Rig.json(#"{"a":1}"#).json, following: nil, at: Instant(nanoseconds: 0))
                for _ in 0..<1_000 { _ = clip.step(granted: .milliseconds(1), fit: .keyframes) }
            }
        }
        #expect(time < 10)
    }

    @Test func `a name near another is found at any length, up to its limit`() {
        let name = String(repeating: "n", count: nearNameBytesMax)
        #expect(nearestName(to: name, among: [name.replacing("nn", with: "mm")]) == nil)
        #expect(nearestName(to: name, among: ["x" + name.dropFirst()]) != nil)
        #expect(nearestName(to: name + "n", among: [name]) == nil)
        #expect(nearestName(to: "ab", among: ["ba", "abc", "xyz"]) == "abc")
        #expect(nearestName(to: "tpye", among: ["type", "state"]) == "type")
        #expect(nearestName(to: "", among: ["a", "bc"]) == "a")
    }
}
