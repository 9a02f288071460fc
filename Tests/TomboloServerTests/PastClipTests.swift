import Testing
import TomboloCore
import TomboloJSON

@testable import TomboloServer

/// `GET /v1/activities/{id}?at=` around clips: the frame of any instant, from the log alone.
@Suite struct PastClipTests {
    /// When the events of cat-7 were recorded, in order.
    private static func times(_ doors: DoorsUnderTest) async throws -> [Instant] {
        let log = try json(try await doors.call("GET", "/v1/log?activity=cat-7"))
        return try #require(log["events"]).elements.compactMap {
            $0["recorded_at"]?.string.flatMap(Instant.init(rfc3339:))
        }
    }

    private static func at(_ instant: Instant, _ doors: DoorsUnderTest) async throws -> JSONView {
        try json(try await doors.call("GET", "/v1/activities/cat-7?at=\(instant.rfc3339)"))
    }

    private static func start(_ doors: DoorsUnderTest, _ state: String) async throws {
        let answer = try await doors.call(
            "PUT", "/v1/activities/cat-7", #"{"type":"T","state":\#(state)}"#)
        #expect(answer.status == 201)
    }

    private static func play(_ doors: DoorsUnderTest, _ clip: String) async throws {
        let answer = try await doors.call("POST", "/v1/activities/cat-7/clips", clip)
        #expect(answer.status == 201, "\(answer.text)")
    }

    @Test func `before, within, at the end of and after a tween`() async throws {
        try await withDoors { doors in
            try await Self.start(doors, #"{"n":0}"#)
            try await Self.play(
                doors, #"{"tween":{"path":"/n","to":1000,"duration":"10s","easing":"linear"}}"#)
            let times = try await Self.times(doors)
            let before = try await Self.at(times[0] + .milliseconds(1), doors)
            #expect(before["state"]?["n"]?.double == 0)
            #expect(before["clips"]?.count == 0)
            for (after, value, isPlaying) in [
                (2_500, 250, true), (9_000, 900, true), (10_001, 1_000, false),
                (50_000, 1_000, false),
            ] as [(Int64, Double, Bool)] {
                let view = try await Self.at(times[1] + .milliseconds(after), doors)
                let shown = try #require(view["state"]?["n"]?.double)
                // Times of the log are whole milliseconds.
                #expect(abs(shown - value) <= 0.2, "after \(after) ms: \(shown)")
                #expect(view["clips"]?.elements.first { _ in true }?["playing"]?.bool == isPlaying)
            }
        }
    }

    @Test func `a loop goes round for ever, and one that plays twice stays at its last`()
        async throws
    {
        try await withDoors { doors in
            try await Self.start(doors, #"{"n":9}"#)
            for (loop, later) in [(#""forever""#, 1), ("2", 2)] as [(String, Int64)] {
                try await Self.play(
                    doors,
                    #"{"flipbook":{"path":"/n","frames":[0,1,2],"every":"1s","loop":\#(loop)}}"#)
                let began = try #require(try await Self.times(doors).last)
                for (after, frame) in [
                    (500, 0), (1_500, 1), (3_500, 0), (5_500, 2), (7_500, later),
                ]
                    as [(Int64, Int64)]
                {
                    let view = try await Self.at(began + .milliseconds(after), doors)
                    #expect(view["state"]?["n"]?.integer == frame, "\(loop) after \(after) ms")
                }
            }
        }
    }

    @Test func `of a clip that was replaced or stopped, the frame of that instant stands`()
        async throws
    {
        try await withDoors { doors in
            try await Self.start(doors, #"{"n":0,"m":0}"#)
            try await Self.play(
                doors, #"{"tween":{"path":"/n","to":3600000,"duration":"1h","easing":"linear"}}"#)
            try await Self.play(
                doors, #"{"flipbook":{"path":"/m","frames":[1,2],"every":"1h","clock":"shown"}}"#)
            let stop = try await doors.call("DELETE", "/v1/activities/cat-7/clips/clip_3")
            #expect(stop.status == 200)
            let times = try await Self.times(doors)
            // One a millisecond: the value is the time that the tween played.
            let played = Double((times[2] - times[1]).nanoseconds) / 1e6
            let replaced = try await Self.at(times[2] + .seconds(30), doors)
            let stopped = try await Self.at(times[3] + .seconds(50), doors)
            for view in [replaced, stopped] {
                let value = try #require(view["state"]?["n"]?.double)
                #expect(abs(value - played) <= 2)
                #expect(view["state"]?["m"]?.integer == 1)
            }
            #expect(stopped["clips"]?.count == 0)
        }
    }
}
