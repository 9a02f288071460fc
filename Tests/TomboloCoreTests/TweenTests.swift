import CoreRig
import Glibc
import Testing
import TomboloCore
import TomboloJSON

/// Tweens against closed forms: values, speeds, taking over, and what phones get of them.
@Suite struct TweenTests {
    private static func animatable(_ text: String) -> Animatable {
        Animatable(Rig.json(text))!
    }

    private static func tween(
        _ from: String, _ to: String, _ easing: Easing, seconds: Int64 = 2
    ) -> Tween {
        Tween(
            from: animatable(from), to: JSON(unchecked: Array(to.utf8)), animatable: animatable(to),
            duration: .seconds(seconds), easing: easing)
    }

    private static func text(_ tween: Tween, at milliseconds: Int64) -> String {
        String(decoding: tween.json(at: .milliseconds(milliseconds)).bytes, as: UTF8.self)
    }

    // MARK: Functions

    @Test func `the room's own functions are the C library's to the last places`() {
        for step in -2_000...2_000 {
            let x = Double(step) / 100
            #expect((RealFunctions.exp(x) / exp(x) - 1).magnitude < 1e-14)
            let wave = RealFunctions.sineAndCosine(x * 7)
            #expect((wave.sine - sin(x * 7)).magnitude < 1e-13)
            #expect((wave.cosine - cos(x * 7)).magnitude < 1e-13)
        }
        #expect(RealFunctions.exp(-1_000) == 0)
    }

    // MARK: Easings

    @Test func `timing curves are those of their control points`() {
        #expect((CubicBezier(0, 0, 1, 1).value(at: 0.3) - 0.3).magnitude < 1e-12)
        // At parameter 1/2 of easeInOut x and y are 1/2, and the slope is (3/4·2·…) = 1.5 / 0.87.
        let curve = CubicBezier(0.42, 0, 0.58, 1)
        #expect((curve.value(at: 0.5) - 0.5).magnitude < 1e-12)
        #expect((curve.velocity(at: 0.5) - 1.5 / 0.87).magnitude < 1e-9)
        // easeIn at parameter 1/2: x = 3·¼·½·0.42 + 3·½·¼·1 + ⅛ = 0.6575, y = 0.5.
        #expect((CubicBezier(0.42, 0, 1, 1).value(at: 0.6575) - 0.5).magnitude < 1e-9)
        #expect((CubicBezier(0, 0, 0.58, 1).value(at: 0.3425) - 0.5).magnitude < 1e-9)
        #expect(curve.value(at: 0) == 0 && curve.value(at: 1) == 1)
    }

    @Test(arguments: [0.0, 0.3, 0.7, -0.5])
    func `springs follow their equation of motion`(bounce: Double) {
        let spring = Spring(duration: 0.5, bounce: bounce)
        let omega = 2 * Double.pi / 0.5
        let zeta = bounce < 0 ? 1 / (1 + bounce) : 1 - bounce
        let step = 1e-4
        #expect((spring.distance(-10, velocity: 3, after: 0).distance + 10).magnitude < 1e-12)
        #expect((spring.distance(-10, velocity: 3, after: 0).velocity - 3).magnitude < 1e-9)
        for tick in 1..<100 {
            let time = Double(tick) * 0.01
            let now = spring.distance(-10, velocity: 3, after: time)
            let next = spring.distance(-10, velocity: 3, after: time + step)
            let last = spring.distance(-10, velocity: 3, after: time - step)
            let speed = (next.distance - last.distance) / (2 * step)
            let change = (next.velocity - last.velocity) / (2 * step)
            #expect((speed - now.velocity).magnitude < 1e-3)
            let force = -2 * zeta * omega * now.velocity - omega * omega * now.distance
            #expect((change - force).magnitude < 0.5)
        }
    }

    @Test func `without bounce a spring is the closed form of critical damping`() {
        let tween = Self.tween("0", "100", Easing.standard)
        let omega = 2 * Double.pi / 0.55
        for time in [0.1, 0.2, 0.4] {
            let value = tween.state(at: Span(nanoseconds: Int64(time * 1e9))).value.components[0]
            #expect((value - 100 * (1 - (1 + omega * time) * exp(-omega * time))).magnitude < 1e-9)
        }
        let length = tween.length.seconds
        #expect(
            100
                - tween.state(at: Span(nanoseconds: Int64((length - 0.01) * 1e9))).value.components[
                    0] < 0.2)
        #expect(Self.text(tween, at: 60_000) == "100")
    }

    // MARK: Data

    @Test(arguments: [
        ("0", "180", "90"), ("[0,0]", "[10,-20]", "[5,-10]"),
        (##""#000000""##, ##""#ff8000""##, ##""#804000""##),
        (##""#00000000""##, ##""#ffffffff""##, ##""#80808080""##),
        (
            ##"{"a":1,"p":{"x":0,"y":4},"c":"#ff0000"}"##,
            ##"{"a":3,"p":{"x":1,"y":0},"c":"#0000ff"}"##,
            ##"{"a":2,"p":{"x":0.5,"y":2},"c":"#800080"}"##
        ),
    ])
    func `half way stands half way, and the last value is the producer's bytes`(
        from: String, to: String, half: String
    ) {
        let tween = Self.tween(from, to, .linear)
        #expect(Self.text(tween, at: 1_000) == half)
        #expect(Self.text(tween, at: 2_000) == to)
    }

    @Test(arguments: ["true", "null", #""red""#, "{}", "[]", #"{"a":"b"}"#, "[1,2,3,4,5]"])
    func `between some things there is nothing`(text: String) {
        #expect(Animatable(Rig.json(text)) == nil)
    }

    // MARK: In an activity

    private static func turn(_ to: Int, _ easing: String = "linear", from: Int? = nil) -> String {
        let start = from.map { "\"from\":\($0)," } ?? ""
        return #"{"tween":{"path":"/angle",\#(start)"to":\#(to),"duration":"2s","#
            + #""easing":"\#(easing)"}}"#
    }

    private static func rig(_ budgetClass: BudgetClass) -> Rig {
        var rig = Rig()
        rig.device("phone", budgetClass)
        rig.token("activity:cat", "bb")
        rig.command(.start, #"{"type":"Radial","audience":{"device":"phone"},"state":{"angle":0}}"#)
        rig.advance(to: 10)
        return rig
    }

    private static func angles(_ rig: borrowing Rig, from: Int) -> [Double] {
        rig.pushes.dropFirst(from).compactMap {
            Rig.aps($0.push)?["content-state"]?["angle"]?.double
        }
    }

    @Test func `in lab a turn of two seconds is 21 frames, and its plan says so`() {
        var rig = Self.rig(.lab)
        let before = rig.pushes.count
        rig.command(.play, Self.turn(180, from: 0))
        #expect(rig.lastAccepted?.plan?.pushes == 21)
        rig.advance(to: 20)
        let angles = Self.angles(rig, from: before)
        // The first frame is what the phone shows already, so it costs nothing; the last may go
        // once more with a newer second.
        #expect(angles.prefix(20) == (1...20).map { Double($0) * 9 }[...])
        #expect(angles.dropFirst(20).allSatisfy { $0 == 180 })
        let frames = rig.view()!.destinations[0].frames
        #expect(frames.asked == 21)
        #expect(frames.sent == 20)
        #expect(frames.unchanged == 1)
    }

    @Test func `a one-shot keeps its duration and is sampled evenly at the granted rate`() {
        var rig = Self.rig(.frequent)
        let before = rig.pushes.count
        rig.command(
            .play,
            #"{"tween":{"path":"/angle","to":120,"duration":"12s","easing":"linear"},"urgency":"high"}"#
        )
        rig.advance(to: 60)
        let line = rig.pushes.dropFirst(before).map { $0.at.seconds }
        #expect(line == [16, 22], "twelve seconds at one in five: two steps of six")
        #expect(Self.angles(rig, from: before) == [60, 120])
    }

    @Test func `the last value of a short tween goes as a state, and exactly`() {
        var rig = Self.rig(.standard)
        let before = rig.pushes.count
        rig.command(.play, Self.turn(180, "easeInOut"))
        rig.advance(to: 60)
        #expect(Self.angles(rig, from: before) == [180])
        #expect(rig.pushes.last!.push.priority == 10)
        #expect(rig.pushes.last!.at.seconds == 12)
    }

    @Test func `a tween that arrives while one runs starts from the value shown now`() {
        var rig = Self.rig(.lab)
        rig.command(.play, Self.turn(180))
        rig.advance(to: 11)
        let before = rig.pushes.count
        rig.command(.play, Self.turn(360, from: 0))
        rig.advance(to: 20)
        let angles = Self.angles(rig, from: before)
        #expect(angles.first! >= 90)
        #expect(angles.last == 360)
        #expect(zip(angles, angles.dropFirst()).allSatisfy { $0 <= $1 }, "angles add up")
        #expect(!angles.contains(180), "a tween that is replaced has no last value of its own")
    }

    @Test func `a spring takes over the speed, a curve does not`() {
        for (easing, goesOn) in [("spring", true), ("linear", false)] {
            var rig = Self.rig(.lab)
            rig.command(.play, Self.turn(180))
            rig.advance(to: 11)
            // Back to where it came from: with 90 degrees a second it first goes on.
            rig.command(.play, Self.turn(0, easing))
            let state = rig.core.view(
                ActivityKey(tenant: Rig.tenant, id: Identifier("cat")!),
                now: rig.now + .milliseconds(50))!.state
            let angle = state.document.root["angle"]!.double!
            #expect((angle > 90) == goesOn, "\(easing): \(angle)")
        }
    }

    @Test func `a tween without a way to its end is refused, with the field`() {
        var rig = Self.rig(.lab)
        rig.command(.play, #"{"tween":{"path":"/angle","to":[1,2]}}"#)
        #expect(rig.lastRefused?.errors.map(\.pointer) == ["/tween/from"])
    }

    @Test func `the order of an object's members does not matter`() throws {
        var rig = Self.rig(.lab)
        rig.command(.update, ##"{"state":{"o":{"x":0,"c":"#000000","y":10}}}"##)
        rig.command(
            .play,
            ##"{"tween":{"path":"/o","to":{"c":"#ffffff","y":0,"x":100},"duration":"2s","##
                + ##""easing":"linear"}}"##)
        rig.advance(to: 11)
        let state = rig.view()?.state.document.root["o"]
        #expect(state?["x"]?.double == 50)
        #expect(state?["y"]?.double == 5)
        #expect(state?["c"]?.string == "#808080")
        // A spring takes over each member's own speed.
        rig.command(
            .play, ##"{"tween":{"path":"/o","to":{"y":0,"x":0,"c":"#000000"},"easing":"spring"}}"##)
        let later = rig.core.view(
            ActivityKey(tenant: Rig.tenant, id: try #require(Identifier("cat"))),
            now: rig.now + .milliseconds(10))?.state.document.root["o"]
        #expect(try #require(later?["x"]?.double) > 50, "it went up")
        #expect(try #require(later?["y"]?.double) < 5, "it went down")
        #expect(throws: FieldErrors.self) {
            _ = try Command.Content(
                kind: .play,
                Rig.json(#"{"tween":{"path":"/o","from":{"x":1,"z":0},"to":{"x":1,"y":0}}}"#))
        }
    }

    @Test(arguments: [
        (#"{"tween":{"path":"/none","to":1}}"#, "/tween/from", "nothing at /none"),
        (#"{"tween":{"path":"/a/b","to":1,"from":0}}"#, "/tween/path", "points to nothing"),
        (#"{"tween":{"path":"/a/b","to":1}}"#, "/tween/path", "points to nothing"),
        (##"{"tween":{"path":"/angle","to":"#ffffff"}}"##, "/tween/from", "give from"),
        (
            #"{"flipbook":{"path":"/angle","frames":[1,"LARGE","LARGE"],"every":"1s"}}"#,
            "/flipbook/frames/1", "clip pack --fit step"
        ),
        (
            #"{"flipbook":{"path":"/angle","frames":[1,"HALF","HALF"],"every":"1s"},"#
                + #""fit":"bundle"}"#,
            "/flipbook/frames", #"take "fit":"step""#
        ),
    ])
    func `an impossible clip is refused with its remedy`(
        _ body: String, _ pointer: String, _ words: String
    ) throws {
        var rig = Self.rig(.lab)
        let body = body.replacing("LARGE", with: String(repeating: "x", count: 4_100))
            .replacing("HALF", with: String(repeating: "x", count: 2_100))
        rig.command(.play, body)
        let refusal = try #require(rig.answers.last?.refused)
        #expect(refusal.errors.map(\.pointer) == [pointer])
        #expect(refusal.detail.contains(words), "\(refusal.detail)")
    }

    @Test(arguments: [
        (#""easing":{"cubicBezier":[0,0,1,1],"spring":{}}"#, "/tween/easing/spring", "not both"),
        (#""duration":2"#, "/tween/duration", "such as"), (#""clock":1"#, "/tween/clock", "one of"),
        (#""path":7"#, "/tween/path", "JSON Pointer"),
    ])
    func `a wrong field is reported once, with the valid values`(
        _ field: String, _ pointer: String, _ words: String
    ) throws {
        let path = field.contains("path") ? "" : #","path":"/angle""#
        let error = #expect(throws: FieldErrors.self) {
            _ = try Command.Content(kind: .play, Rig.json(#"{"tween":{"to":1,\#(field)\#(path)}}"#))
        }
        #expect(error?.errors.map(\.pointer) == [pointer])
        #expect(error?.errors.first?.message.contains(words) == true)
    }

    /// SwiftUI's own numbers (`Animation`, `Spring`): perceptual duration and bounce.
    @Test(arguments: [
        ("default", 0.55, 0.0), ("spring", 0.5, 0), ("smooth", 0.5, 0), ("snappy", 0.5, 0.15),
        ("bouncy", 0.5, 0.3),
    ])
    func `named springs are those closed forms`(
        _ name: String, _ duration: Double, _ bounce: Double
    )
        throws
    {
        let easing = try #require(Easing.names.first { $0.0 == name }?.1)
        let tween = Self.tween("10", "110", easing)
        let (omega, zeta) = (2 * Double.pi / duration, 1 - bounce)
        let damped = omega * (1 - zeta * zeta).squareRoot()
        for step in 1...8 {
            let t = Double(step) * 0.04
            let decay = exp(-zeta * omega * t)
            let rest =
                zeta == 1
                ? decay * (1 + omega * t)
                : decay * (cos(damped * t) + zeta * omega / damped * sin(damped * t))
            let value = tween.state(at: Span(nanoseconds: Int64(t * 1e9))).value.components[0]
            #expect(abs(value - (110 - 100 * rest)) < 1e-6, "\(name) after \(t) s")
        }
    }

    /// A tween's curve against its equation, solved again by Newton's method.
    @Test(arguments: [
        ("easeIn", 0.42, 0.0, 1.0, 1.0), ("easeOut", 0, 0, 0.58, 1),
        ("easeInOut", 0.42, 0, 0.58, 1), ("linear", 0, 0, 1, 1),
    ])
    func `named curves are those closed forms`(
        _ name: String, _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double
    ) throws {
        let easing = try #require(Easing.names.first { $0.0 == name }?.1)
        let tween = Self.tween("0", "1", easing, seconds: 10)
        func bezier(_ one: Double, _ two: Double, _ t: Double) -> Double {
            ((1 - 3 * two + 3 * one) * t + 3 * two - 6 * one) * t * t + 3 * one * t
        }
        for time in stride(from: 0.5, to: 10, by: 0.5) {
            var t = time / 10
            for _ in 0..<50 {
                let slope = (bezier(x1, x2, t + 1e-7) - bezier(x1, x2, t - 1e-7)) / 2e-7
                t -= (bezier(x1, x2, t) - time / 10) / max(slope, 0.05)
            }
            let value = tween.state(at: Span(nanoseconds: Int64(time * 1e9))).value.components[0]
            #expect(abs(value - bezier(y1, y2, t)) < 1e-6, "\(name) after \(time) s")
        }
    }

    @Test func `a tween that took over a running one survives a crash`() {
        var rig = Self.rig(.lab)
        rig.command(.play, Self.turn(180))
        rig.advance(to: 11)
        rig.command(.play, Self.turn(0, "spring"))
        let later = Rig.epoch + .milliseconds(11_400)
        let key = ActivityKey(tenant: Rig.tenant, id: Identifier("cat")!)
        let before = rig.core.view(key, now: later)?.state
        _ = rig.crash(recoverAt: 11.3)
        #expect(rig.core.view(key, now: later)?.state == before)
    }

    @Test func `three avatars stand on the circle where the scenario says`() {
        let layout = RadialLayout(width: 300, height: 300, count: 3)
        let golden = [(150.0, 250.0), (63.4, 100), (236.6, 100)]
        for (item, point) in golden.enumerated() {
            for turns in [0.0, 1, 2] {
                let place = layout.place(of: item, offset: turns * 2 * Double.pi)
                #expect((place.x - point.0).magnitude < 0.05)
                #expect((place.y - point.1).magnitude < 0.05)
            }
        }
    }

    @Test func `keyframes on an arc keep the chord close`() {
        let layout = RadialLayout(width: 300, height: 300, count: 3)
        let count = layout.keyframes(turning: Double.pi, tolerance: 2)
        let half = Double.pi / Double(count - 1) / 2
        #expect(100 * (1 - cos(half)) <= 2)
        #expect(100 * (1 - cos(Double.pi / Double(count - 2) / 2)) > 2, "and no more than needed")
    }
}
