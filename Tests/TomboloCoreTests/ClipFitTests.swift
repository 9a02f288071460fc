import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// Rule 10: a bundle is one push, keyframes stand as far apart as the phone can fill in.
@Suite struct ClipFitTests {
    private static let playing = #"{"plays":true,"animates":true}"#

    private static func rig(
        _ budgetClass: BudgetClass = .standard, type: String? = playing
    ) throws -> Rig {
        var rig = Rig()
        if let type { try Self.declare(type, &rig) }
        rig.runningActivity(budgetClass)
        rig.advance(to: 100)
        return rig
    }

    private static func declare(_ body: String, _ rig: inout Rig) throws {
        let type = try ActivityType(reading: Rig.json(body))
        rig.step(.type(type, name: "Runner", app: nil, Rig.tenant, Ticket(1)))
    }

    private static func clip(_ push: Push) -> JSONView? {
        Rig.json(Rig.state(push))["clip"]
    }

    @Test func `a bundle is one push, and every frame counts as sent`() throws {
        var rig = try Self.rig()
        let before = rig.pushes.count
        rig.command(.play, ClipTests.clip)
        #expect(rig.lastAccepted?.plan?.fit == .bundle)
        #expect(rig.lastAccepted?.plan?.pushes == 1)
        #expect(rig.lastAccepted?.plan?.grantedFramesPerSecond == 10)
        rig.advance(to: 160)
        #expect(rig.pushes.count == before + 1)
        let bundle = try #require(rig.pushes.last.flatMap { Self.clip($0.push) })
        #expect(bundle["path"]?.string == "/lap")
        #expect(bundle["frames"]?.count == 5)
        #expect(bundle["every"]?.double == 0.1)
        #expect(bundle["loop"]?.bool == true)
        #expect(bundle["began"]?.double == Double(Rig.epoch.seconds + 100))
        let frames = rig.view()!.destinations[0].frames
        #expect(frames.asked == 601)
        #expect(frames.sent == 601)
        rig.command(.stop, "{}")
        rig.advance(to: 200)
        #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"lap":0}"#, "no bundle is left")
    }

    @Test(arguments: [
        #"{"fit":"step","flipbook":{"path":"/lap","frames":[5,6,7],"every":"200ms"}}"#,
        #"{"flipbook":{"path":"/lap","frames":[5,6,7],"every":"200ms"}}"#,
        #"{"tween":{"path":"/lap","from":0,"to":100,"duration":"10s","easing":"linear"}}"#,
    ])
    func `a dry run shows the push as it is, also of a bundle and of keyframes`(play: String)
        throws
    {
        var rig = try Self.rig(.lab)
        for (kind, body) in [(EventKind.play, play), (.update, #"{"state":{"name":"Mio"}}"#)] {
            let tried = try rig.core.dryRun(Command(kind, body), now: rig.now)
            let before = rig.pushes.count
            rig.command(kind, body)
            try #require(rig.pushes.count > before)
            #expect(Self.untimed(tried.payload) == Self.untimed(rig.pushes[before].push.payload))
            rig.advance(to: 100.5)
        }
    }

    /// A payload from behind its timestamp on.
    private static func untimed(_ payload: [UInt8]) -> Substring {
        String(decoding: payload, as: UTF8.self).drop { $0 != "," }
    }

    @Test func `a card that begins while a bundle plays has it from its start on`() throws {
        var rig = try Self.rig()
        rig.command(.play, ClipTests.clip)
        rig.advance(to: 130.25)
        rig.command(.end, "{}")
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"devices":["phone","other"]},"state":{"lap":0}}"#,
            id: "dog")
        rig.command(.play, ClipTests.clip, id: "dog")
        rig.advance(to: 140)
        rig.device("other", .standard)
        rig.token("start:Runner", "cc", "other")
        let start = try #require(rig.pushes.last { $0.push.event == .start }?.push)
        #expect(start.token == "cc")
        let bundle = try #require(Self.clip(start))
        #expect(bundle["began"]?.double == Double(Rig.epoch.seconds) + 130.25)
    }

    @Test func `a bundle is kept for a phone that is away, and goes once more ten minutes later`()
        throws
    {
        var rig = try Self.rig()
        let before = rig.pushes.count
        rig.command(.play, ClipTests.clip)
        #expect(rig.pushes.last?.push.expiration ?? 0 > 0)
        rig.advance(to: 1_500)
        let bundles = rig.pushes.dropFirst(before).compactMap { Self.clip($0.push) }
        #expect(bundles.count == 2)
        #expect(Set(bundles.map { $0["began"]?.double }).count == 1)
    }

    @Test func `a state that leaves no room for its bundle is refused, or goes without it`() throws
    {
        let long = String(repeating: "x", count: 3_850)
        var rig = try Self.rig()
        rig.command(
            .play,
            #"{"flipbook":{"path":"/lap","frames":[0,1,2,3,4],"every":"100ms"},"fit":"bundle"}"#)
        rig.command(.update, #"{"state":{"name":"\#(long)"}}"#)
        #expect(rig.lastRefusal == .payloadTooLarge)
        rig.command(.play, ClipTests.clip)
        rig.command(.update, #"{"state":{"name":"\#(long)"}}"#)
        rig.advance(to: 160)
        #expect(rig.lastAccepted?.changed == true)
        #expect(rig.pushes.allSatisfy { $0.push.payload.count <= Payload.bytesMax })
    }

    @Test func `a change while a bundle plays carries it on, from where it is`() throws {
        var rig = try Self.rig()
        rig.command(.play, ClipTests.clip)
        rig.advance(to: 130.25)
        rig.command(.update, #"{"state":{"name":"Mio"}}"#)
        rig.advance(to: 150)
        let bundle = try #require(rig.pushes.last.flatMap { Self.clip($0.push) })
        #expect(bundle["began"]?.double == Double(Rig.epoch.seconds + 100))
        #expect(rig.pushes.last.map { Rig.state($0.push) }?.contains("Mio") == true)
    }

    @Test func `a bundle that plays once is followed by its last value`() throws {
        var rig = try Self.rig()
        let before = rig.pushes.count
        rig.command(.play, #"{"flipbook":{"path":"/lap","frames":[1,2,3],"every":"1s","loop":2}}"#)
        #expect(rig.lastAccepted?.plan?.pushes == 2)
        rig.advance(to: 200)
        #expect(rig.pushes.dropFirst(before).count == 2)
        #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"lap":3}"#)
    }

    @Test func `a clip that is too large for a bundle, or undeclared, is sent frame by frame`()
        throws
    {
        let large = (0..<5).map { "\"\($0)\(String(repeating: "x", count: 900))\"" }
        let body =
            #"{"flipbook":{"path":"/lap","frames":[\#(large.joined(separator: ","))],"#
            + #""every":"100ms"}}"#
        var rig = try Self.rig()
        rig.command(.play, body)
        #expect(rig.lastAccepted?.plan?.fit == .step)
        var plain = try Self.rig(type: nil)
        plain.command(.play, ClipTests.clip)
        #expect(plain.lastAccepted?.plan?.fit == .step)
    }

    @Test func `an explicit bundle that cannot fit is refused, with the bytes`() throws {
        var rig = try Self.rig(type: nil)
        let large = (0..<5).map { "\"\($0)\(String(repeating: "x", count: 900))\"" }
        rig.command(
            .play,
            #"{"fit":"bundle","flipbook":{"path":"/lap","frames":[\#(large.joined(separator: ","))],"#
                + #""every":"100ms"}}"#)
        #expect(rig.lastRefusal == .payloadTooLarge)
        rig.command(
            .play,
            #"{"fit":"bundle","flipbook":{"path":"/lap","frames":[1,2],"every":"100ms"}}"#)
        #expect(rig.lastAccepted?.lint.map(\.code) == [.clipBundleUndeclared])
        #expect(rig.pushes.last.flatMap { Self.clip($0.push) } != nil, "as it was asked for")
    }

    @Test func `a bundle rests while the app is in front, and goes on after`() throws {
        var rig = try Self.rig()
        rig.command(
            .play,
            #"{"flipbook":{"path":"/lap","frames":[0,1,2],"every":"1s","clock":"shown"}}"#)
        rig.advance(to: 110)
        let before = rig.pushes.count
        rig.presence(.active)
        rig.advance(to: 140)
        #expect(rig.pushes.count == before)
        rig.presence(.background)
        rig.advance(to: 160)
        let bundle = try #require(rig.pushes.last.flatMap { Self.clip($0.push) })
        #expect(rig.pushes.count == before + 1)
        #expect(bundle["began"]?.double == Double(Rig.epoch.seconds + 130), "30 s were not shown")
    }

    /// Found on the terminal's screen: it told that a frame waited, for two hundred years.
    @Test func `a phone that plays a bundle waits for nothing`() throws {
        var rig = try Self.rig()
        rig.command(.play, #"{"flipbook":{"path":"/lap","frames":[0,1,2],"every":"100ms"}}"#)
        rig.advance(to: 100)
        #expect(rig.pushes.last.flatMap { Self.clip($0.push) } != nil)
        #expect(rig.view()?.destinations.map(\.waiting) == [nil])
    }

    /// The phone has played on since the bundle was pushed: it showed the first frame then.
    @Test func `a bundle that ends with its activity stays at the frame of that moment`() throws {
        var rig = try Self.rig()
        rig.command(
            .play,
            #"{"flipbook":{"path":"/lap","frames":[0,1,2],"every":"1s","clock":"shown"}}"#)
        rig.advance(to: 101.5)
        rig.command(.end, "{}")
        rig.advance(to: 102)
        let end = try #require(rig.pushes.last?.push)
        #expect(end.event == .end)
        let beginnings = rig.pushes.compactMap { Self.clip($0.push)?["began"]?.double }
        let began = try #require(beginnings.last)
        let frame = Int(Double(Rig.epoch.seconds) + 101.5 - began) % 3
        #expect(frame != 0, "or it says nothing")
        #expect(Rig.state(end) == #"{"lap":\#(frame)}"#)
    }

    @Test func `keyframes tell the end of each part, two seconds at most`() throws {
        var rig = try Self.rig(.lab)
        let before = rig.pushes.count
        rig.command(
            .play,
            #"{"tween":{"path":"/lap","from":0,"to":100,"duration":"10s","easing":"linear"}}"#)
        #expect(rig.lastAccepted?.plan?.fit == .keyframes)
        #expect(rig.lastAccepted?.plan?.pushes == 5)
        rig.advance(to: 130)
        #expect(ClipTests.frames(rig, from: before) == ["20", "40", "60", "80", "100"])
        let line = rig.pushes.dropFirst(before).map(\.at.seconds)
        #expect(line.map { ($0 - 100).rounded() } == [0, 2, 4, 6, 8])
        let frames = rig.view()!.destinations[0].frames
        #expect(frames.slowed == 0, "the phone fills in what is between")
        #expect(frames.asked == frames.sent + frames.merged)
    }

    @Test(arguments: [("degrees", 180.0, 6), ("radians", 3.141_592_653_589_793, 6)])
    func `on an arc keyframes stand at most thirty degrees apart`(
        _ unit: String, _ end: Double, _ count: Int
    ) throws {
        var rig = try Self.rig(.lab)
        let before = rig.pushes.count
        rig.command(
            .play,
            #"{"tween":{"path":"/lap","from":0,"to":\#(end),"duration":"2s","easing":"linear","#
                + #""unit":"\#(unit)"}}"#)
        rig.advance(to: 130)
        // The last may go twice, the second time with a timestamp of its own.
        var frames = ClipTests.frames(rig, from: before).compactMap(Double.init)
        if frames.suffix(2).first == frames.last { frames.removeLast() }
        #expect(frames.count == count, "\(frames)")
        for (one, next) in zip([0] + frames, frames) {
            #expect(next - one <= end / 6 + 0.002)
        }
        #expect(frames.last.map { abs($0 - end) < 1e-9 } == true)
    }

    @Test func `an easing has keyframes where it bends, within the grant`() throws {
        var rig = try Self.rig(.lab)
        let body =
            #"{"tween":{"path":"/lap","from":0,"to":100,"duration":"4s","easing":"easeInOut"}}"#
        rig.command(.play, body)
        let bent = try #require(rig.lastAccepted?.plan?.pushes)
        #expect(bent > 2)
        #expect(bent < 12)
        var slow = try Self.rig(.standard)
        let before = slow.pushes.count
        slow.command(.play, body)
        #expect(slow.lastAccepted?.plan?.pushes == 1)
        slow.advance(to: 200)
        #expect(ClipTests.frames(slow, from: before) == ["100"])
    }

    /// Found by the simulation: a keyframe went a second time when a wider grant asked for it
    /// earlier than the next.
    @Test func `a keyframe that the phone has already costs no push`() throws {
        var rig = try Self.rig(.standard)
        let before = rig.pushes.count
        rig.command(
            .play,
            #"{"tween":{"path":"/lap","from":0,"to":100,"duration":"300s","easing":"linear"}}"#)
        rig.advance(to: 121)
        rig.device("phone", .frequent)
        rig.advance(to: 500)
        let frames = ClipTests.frames(rig, from: before)
        #expect(frames.prefix(3) == ["5", "10", "11.667"])
        #expect(Set(frames).count == frames.count, "\(frames)")
    }

    @Test func `a tween has nothing to bundle, a flip-book nothing between its frames`() {
        for body in [
            #"{"fit":"bundle","tween":{"path":"/lap","to":1}}"#,
            #"{"fit":"keyframes","flipbook":{"path":"/lap","frames":[1,2],"every":"1s"}}"#,
        ] {
            #expect(throws: FieldErrors.self) {
                _ = try Command.Content(kind: .play, Rig.json(body))
            }
        }
    }
}
