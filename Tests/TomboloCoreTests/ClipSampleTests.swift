import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// Rules 9 and 10 where a push goes a little late, as every real one does: what is sampled is what
/// was asked for; and what the plan says before is what comes.
@Suite struct ClipSampleTests {
    private static func rig(
        _ budgetClass: BudgetClass, animates: Bool = false,
        _ change: (inout CoreConfiguration) -> Void = { _ in }
    ) throws -> Rig {
        var rig = Rig(change)
        if animates {
            let type = try ActivityType(reading: Rig.json(#"{"animates":true}"#))
            rig.step(.type(type, name: "Runner", app: nil, Rig.tenant, Ticket(1)))
        }
        rig.runningActivity(budgetClass)
        rig.advance(to: 100)
        return rig
    }

    /// A play whose event takes so long to be on disk.
    private static func play(_ body: String, after milliseconds: Int64, _ rig: inout Rig) {
        rig.commitsByItself = false
        rig.command(.play, body)
        rig.now = rig.now + .milliseconds(milliseconds)
        while rig.commit() {}
        rig.commitsByItself = true
    }

    private static func turn(_ to: Int, _ duration: String, _ rest: String = "") -> String {
        #"{"tween":{"path":"/lap","to":\#(to),"duration":"\#(duration)","easing":"linear""#
            + "\(rest)}}"
    }

    /// Found on the terminal's phones: the first frame was off by what the disk took, and its push
    /// held the last value back by the spacing.
    @Test(arguments: [BudgetClass.standard, .frequent, .lab])
    func `a tween's first frame costs nothing where the phone shows it already`(
        _ budgetClass: BudgetClass
    ) throws {
        var rig = try Self.rig(budgetClass)
        let before = rig.pushes.count
        Self.play(Self.turn(100, "600ms"), after: 7, &rig)
        #expect(rig.pushes.count == before)
        #expect(rig.view()?.destinations[0].frames.unchanged == 1)
        rig.advance(to: 120)
        let values = ClipTests.frames(rig, from: before)
        #expect(values.last == "100")
        guard budgetClass != .lab else { return }
        #expect(rig.line(from: before) == #"100.6:U10{"lap":100}"#, "at its end, and at once")
    }

    @Test func `a push that is late shows a frame that was asked for, and none between two`() throws
    {
        var rig = try Self.rig(.lab)
        let before = rig.pushes.count
        rig.command(.play, Self.turn(100, "1s"))
        // Each tenth of a second, and 13 ms.
        for step in 1...10 {
            rig.now = Rig.epoch + .milliseconds(100_013 + Int64(step) * 100)
            rig.step(.tick)
        }
        rig.advance(to: 110)
        var values = ClipTests.frames(rig, from: before)
        // The last may go once more, with a timestamp of its own.
        if values.suffix(2) == ["100", "100"] { values.removeLast() }
        #expect(values == (1...10).map { "\($0 * 10)" })
    }

    @Test func `a change while a tween plays carries the frame that was asked for last`() throws {
        var rig = try Self.rig(.lab)
        rig.command(.play, Self.turn(100, "1s"))
        rig.advance(to: 100.555)
        rig.command(.update, #"{"state":{"name":"Mio"}}"#)
        #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"lap":50,"name":"Mio"}"#)
    }

    // MARK: Achieved

    @Test(arguments: [(BudgetClass.lab, 10.0), (.frequent, 0.2), (.standard, 1.0 / 15)])
    func `the achieved rate is reported afterwards, even after the end and a restart`(
        _ budgetClass: BudgetClass, _ rate: Double
    ) throws {
        var rig = try Self.rig(budgetClass)
        #expect(rig.view()?.destinations[0].frames.achievedPerSecond == nil)
        rig.command(.play, ClipTests.clip)
        rig.advance(to: 250)
        func achieved() throws -> Double {
            try #require(rig.view()?.destinations[0].frames.achievedPerSecond)
        }
        #expect(abs(try achieved() - rate) < rate / 8)
        rig.command(.end, "{}")
        rig.advance(to: 251)
        #expect(abs(try achieved() - rate) < rate / 8)
        // The checkpoint may be a little older than the crash.
        #expect(rig.crash(recoverAt: 252).isEmpty)
        #expect(abs(try achieved() - rate) < rate / 8)
    }

    // MARK: Keyframes

    private static func keyframes(
        _ rig: borrowing Rig, from: Int
    ) -> [(at: Double, value: Double, until: Double?)] {
        rig.pushes.dropFirst(from).compactMap { at, push in
            let state = Rig.json(Rig.state(push))
            guard let value = state["lap"]?.double else { return nil }
            return (
                at.seconds, value,
                state["clip"]?["reached"]?.double.map { $0 - Double(Rig.epoch.seconds) }
            )
        }
    }

    /// The phone cannot know how far the next keyframe is: after a pause it moved far too slowly.
    @Test func `each keyframe but the last says when it is reached`() throws {
        var rig = try Self.rig(.lab, animates: true)
        let before = rig.pushes.count
        Self.play(Self.turn(180, "2s", #","unit":"degrees""#), after: 9, &rig)
        rig.advance(to: 102.5)
        var told = Self.keyframes(rig, from: before)
        if told.count == 7 { told.removeLast() }
        #expect(told.map { ($0.value * 100).rounded() / 100 } == [30, 60, 90, 120, 150, 180])
        let ends = told.compactMap(\.until)
        #expect(ends.count == 5)
        for (end, next) in zip(ends, told.dropFirst().map(\.at)) {
            #expect(abs(end - next) < 0.002, "it is reached when the next one comes")
        }
        #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"lap":180}"#, "a state, alone")
        #expect(Rig.json(Rig.state(rig.pushes[before].push))["clip"]?["path"]?.string == "/lap")
    }

    @Test func `a change between keyframes goes on to the same keyframe, until the same moment`()
        throws
    {
        var rig = try Self.rig(.lab, animates: true)
        let before = rig.pushes.count
        rig.command(.play, Self.turn(100, "4s"))
        rig.advance(to: 100.5)
        rig.command(.update, #"{"state":{"name":"Mio"}}"#)
        let told = Self.keyframes(rig, from: before)
        #expect(told.map(\.value) == [50, 50])
        #expect(told.map(\.until) == [102, 102])
    }

    @Test func `a keyframe goes without its moment where there is no room, or no place, for it`()
        throws
    {
        var full = try Self.rig(.lab, animates: true)
        var room = 4_000
        repeat {
            room -= 1
            full.command(
                .update, #"{"state":{"name":"\#(String(repeating: "x", count: room))"}}"#)
        } while full.lastRefusal != nil
        // The digits of a value need a few bytes.
        let name = String(repeating: "x", count: room - 8)
        for rest in [#""clip":1"#, #""name":"\#(name)""#] {
            var rig = try Self.rig(.lab, animates: true)
            rig.command(.update, #"{"state":{\#(rest)}}"#)
            let before = rig.pushes.count
            rig.command(.play, Self.turn(100, "4s"))
            rig.advance(to: 110)
            let told = Self.keyframes(rig, from: before)
            #expect(told.prefix(2).map(\.value) == [50, 100])
            #expect(told.allSatisfy { $0.until == nil })
            #expect(rig.pushes.allSatisfy { $0.push.payload.count <= Payload.bytesMax })
        }
    }

    // MARK: The plan

    /// Nothing woke the clip at its end: the phone kept the poster for ever.
    @Test func `below the least rate what plays once still comes to its last value`() throws {
        for body in [
            Self.turn(100, "30s"),
            #"{"flipbook":{"path":"/lap","frames":[7,8,9],"every":"10s","loop":"once"}}"#,
        ] {
            var rig = try Self.rig(.standard) {
                $0.budgets[.standard].lowPrioritySpacing = .seconds(21)
            }
            let before = rig.pushes.count
            rig.command(.play, body)
            #expect(rig.lastAccepted?.plan?.pushes == 2)
            #expect(rig.lastAccepted?.plan?.grantedFramesPerSecond == 0)
            rig.advance(to: 160)
            #expect(["9", "100"].contains(ClipTests.frames(rig, from: before).last))
            #expect(rig.pushes.count - before <= 2)
        }
    }

    /// A tween, one that bends, and a flip-book, ten frames a second.
    private static func motion(_ kind: Int, _ duration: String) -> String {
        guard kind == 2 else {
            let easing = kind == 0 ? "linear" : "easeInOut"
            return #""tween":{"path":"/lap","from":1,"to":9001,"duration":"\#(duration)","#
                + #""easing":"\#(easing)","every":"100ms"}"#
        }
        let count = ["340ms": 3, "1s": 10, "2500ms": 25, "7s": 70, "61s": 200][duration] ?? 2
        let frames = (1...count).map(String.init).joined(separator: ",")
        return #""flipbook":{"path":"/lap","frames":[\#(frames)],"loop":"once","every":"100ms"}"#
    }

    @Test(arguments: ["340ms", "1s", "2500ms", "7s", "61s"], [0, 1, 2])
    func `what plays once comes to the pushes of its plan`(_ duration: String, _ kind: Int) throws {
        for granted in [0, 1_000, 3_000, 5_000, 15_000] {
            for fit in ["step", "keyframes"] where fit == "step" || kind < 2 {
                var rig = try Self.rig(.standard) {
                    $0.budgets[.standard].lowPrioritySpacing = .milliseconds(Int64(granted))
                    $0.budgets[.standard].spacing = .milliseconds(min(1_000, Int64(granted)))
                    $0.budgets[.standard].burst = 1_000
                }
                let before = rig.pushes.count
                rig.command(
                    .play,
                    #"{\#(Self.motion(kind, duration)),"fit":"\#(fit)","urgency":"high"}"#)
                let planned = try #require(rig.lastAccepted?.plan?.pushes)
                rig.advance(to: 300)
                let values = ClipTests.frames(rig, from: before)
                let shown = values.indices.count { $0 == 0 || values[$0] != values[$0 - 1] }
                let what = "\(kind) \(duration) \(fit) at \(granted) ms"
                #expect(Int64(shown) == planned, "\(what): \(values)")
            }
        }
    }
}
