import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// Rule 9: frames are sampled, never late, and a slowed loop visits all its frames.
@Suite struct ClipTests {
    /// Found by the simulation: after a restart the last frame was pushed a second time.
    @Test func `a loop waits for the frame that is asked for next, also after a restart`() {
        var rig = Rig.running(.lab)
        rig.command(.play, #"{"flipbook":{"path":"/lap","frames":[7,8,9],"every":"5s"}}"#)
        rig.advance(to: 9)
        let mark = rig.pushes.count
        #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"lap":8}"#)
        #expect(rig.crash(recoverAt: 9.5).isEmpty)
        rig.advance(to: 21)
        #expect(rig.line(from: mark) == #"10:U10{"lap":9} 15:U10{"lap":7} 20:U10{"lap":8}"#)
    }

    /// Nobody knows how long ago it began: what plays once has come to its end, a loop begins.
    @Test(
        arguments: [
            (#""flipbook":{"path":"/lap","frames":[7,8,9],"every":"5s","loop":2}"#, ["9"]),
            (#""flipbook":{"path":"/lap","frames":[7,8,9],"every":"5s"}"#, ["8", "9", "7", "8"]),
            (
                #""tween":{"path":"/lap","from":0,"to":30,"duration":"30s","easing":"linear","#
                    + #""every":"10s"}"#, ["30"]
            ),
        ])
    func `a clip that began by a clock that was set back waits for no clock`(
        clip: String, frames: [String]
    ) {
        var rig = Rig()
        rig.start()
        rig.advance(to: 60)
        rig.command(.play, "{\(clip)}")
        var recovery = rig.recovery()
        recovery.lead = .hours(-1)
        rig.recover(recovery)
        rig.device("phone", .lab)
        rig.token("start:Runner", "aa")
        rig.token("activity:cat", "bb")
        rig.advance(to: 84)
        #expect(Self.frames(rig, from: 0).suffix(frames.count) == frames[...])
    }

    static let clip = #"{"flipbook":{"path":"/lap","frames":[0,1,2,3,4],"every":"100ms"}}"#

    static func frames(_ rig: borrowing Rig, from: Int) -> [String] {
        rig.pushes.dropFirst(from).map {
            Rig.json(Rig.state($0.push))["lap"].map { String(decoding: $0.raw, as: UTF8.self) }
                ?? ""
        }
    }

    @Test func `in lab a looping cat runs at ten frames a second`() {
        var rig = Rig.running(.lab, until: 1)
        let before = rig.pushes.count
        rig.command(.play, Self.clip)
        rig.advance(to: 10.95)
        #expect(rig.pushes.count - before == 99, "the first is what the phone shows")
        #expect(Self.frames(rig, from: before).prefix(7) == ["1", "2", "3", "4", "0", "1", "2"])
        rig.command(.stop, "{}")
        rig.advance(to: 30)
        let frames = rig.view()!.destinations[0].frames
        #expect(frames.asked == frames.sent + frames.merged + frames.skipped)
        #expect(frames.asked == 100)
        #expect(frames.sent == 99)
        #expect(frames.unchanged == 1)
    }

    @Test(arguments: [(BudgetClass.frequent, 5.0), (.standard, 15.0)])
    func `a slowed loop shows every frame in turn at the granted interval`(
        _ budgetClass: BudgetClass, _ interval: Double
    ) {
        var rig = Rig.running(budgetClass, until: 1)
        let before = rig.pushes.count
        rig.command(.play, Self.clip)
        rig.advance(to: 1 + interval * 10 + 0.5)
        #expect(Self.frames(rig, from: before) == (1...11).map { "\($0 % 5)" })
        #expect(rig.pushes.dropFirst(before + 1).allSatisfy { $0.push.priority == 5 })
        let counts = rig.view()!.destinations[0].frames
        #expect(counts.asked == Int64(interval * 100) + 6)
        #expect(counts.sent == 11)
        #expect(counts.slowed == counts.asked - 12)
    }

    /// Sampled at a multiple of its period it would stand still, and cost pushes all the same.
    @Test(arguments: [2, 3, 4, 5, 6, 8, 10], [10, 33, 50, 100, 250, 700, 1_000, 2_500, 7_500])
    func `a loop visits all its frames, whatever it and the grant are`(
        _ frames: Int, _ every: Int
    ) {
        for granted in [0, 100, 500, 1_000, 3_000, 5_000, 10_000, 15_000, 20_000] {
            var rig = Rig {
                $0.budgets[.standard].lowPrioritySpacing = .milliseconds(Int64(granted))
                $0.budgets[.standard].spacing = .milliseconds(min(1_000, Int64(granted)))
            }
            rig.runningActivity()
            rig.advance(to: 30)
            let before = rig.pushes.count
            let list = (0..<frames).map(String.init).joined(separator: ",")
            rig.command(
                .play, #"{"flipbook":{"path":"/lap","frames":[\#(list)],"every":"\#(every)ms"}}"#)
            // A push a second at most, by its timestamp: a frame's step is the longest of all.
            let step = max(Double(every), Double(granted), granted < 1_000 ? 0 : 1_000) / 1_000
            rig.advance(to: 30 + max(step, 1) * Double(2 * frames + 2))
            let shown = Self.frames(rig, from: before)
            #expect(Set(shown).count == frames, "\(frames) frames, \(every) ms, \(granted) ms")
            #expect(
                zip(shown, shown.dropFirst()).allSatisfy {
                    Int($1) == ((Int($0) ?? 0) + 1) % frames
                }, "in turn: \(shown)")
        }
    }

    @Test func `a grant below the least rate shows the poster frame only`() {
        var rig = Rig { $0.budgets[.standard].lowPrioritySpacing = .seconds(21) }
        rig.runningActivity()
        rig.advance(to: 30)
        let before = rig.pushes.count
        rig.command(.play, #"{"flipbook":{"path":"/lap","frames":[7,8,9],"every":"1s"}}"#)
        rig.advance(to: 300)
        #expect(Self.frames(rig, from: before) == ["7"])
        #expect(rig.lastAccepted?.plan?.grantedFramesPerSecond == 0)
        #expect(rig.lastAccepted?.plan?.pushes == 1)
    }

    @Test(arguments: [BudgetClass.standard, .lab])
    func `the last frame of a flip-book that plays once is a state`(_ budgetClass: BudgetClass) {
        var rig = Rig.running(budgetClass, until: 20)
        let before = rig.pushes.count
        rig.command(
            .play,
            #"{"flipbook":{"path":"/lap","frames":[1,2,3],"every":"2s","loop":2},"#
                + #""urgency":"high"}"#)
        rig.advance(to: 60)
        let own = rig.pushes.dropFirst(before).map(\.push)
        #expect(own.last.map { Rig.state($0) } == #"{"lap":3}"#)
        #expect(own.last.map { $0.expiration > Rig.epoch.seconds + 3_600 } == true)
        #expect(own.dropFirst().dropLast().allSatisfy { $0.expiration == 0 })
    }

    @Test func `frames expire at once and carry no alert`() {
        var rig = Rig.running(.lab, until: 1)
        rig.command(.play, Self.clip)
        rig.advance(to: 2)
        #expect(rig.pushes.last?.push.expiration == 0)
        #expect(rig.pushes.last.flatMap { Rig.aps($0.push)?["alert"] } == nil)
    }

    @Test func `when a clip stops, the producer's frame of that instant is the state everywhere`() {
        var rig = Rig.running(.standard, until: 20)
        rig.command(.play, Self.clip)
        rig.advance(to: 20.35)
        rig.command(.stop, "{}")
        #expect(rig.view().map { String(decoding: $0.state.bytes, as: UTF8.self) } == #"{"lap":3}"#)
        rig.advance(to: 60)
        #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"lap":3}"#)
    }

    /// A phone that animates has the last keyframe ahead of time: it must not turn back.
    @Test(arguments: [
        (#""duration":"1500ms","easing":"spring""#, -100, "180", EventKind.end),
        (#""duration":"1500ms","easing":"easeInOut""#, -100, "180", .end),
        (#""duration":"1500ms","easing":"easeInOut""#, -100, "180", .stop),
        (#""duration":"2s","easing":"linear""#, -1000, "90", .stop),
        (#""duration":"2s","easing":"linear""#, -251, "157", .stop),
        (#""duration":"400ms","easing":"linear""#, -249, "180", .end),
        (#""duration":"400ms","easing":"linear""#, -250, "67.5", .end),
    ])
    func `a clip that is nearly over keeps its last value`(
        how: String, beforeEnd: Int, value: String, kind: EventKind
    ) throws {
        var rig = Rig.running(.lab, until: 20)
        let body = #"{"tween":{"path":"/lap","from":0,"to":180,\#(how)}}"#
        let document = try JSONDocument(Array(body.utf8))
        guard case .play(let clip) = try Command.Content(kind: .play, document.root) else {
            Issue.record("no clip")
            return
        }
        let length = try #require(clip.duration).seconds
        rig.command(.play, body)
        rig.advance(to: 20 + length + Double(beforeEnd) / 1000)
        rig.command(kind, "{}")
        let state = try #require(rig.view() ?? nil).state.document.root["lap"]?.double ?? -1
        #expect((state - (Double(value) ?? 0)).magnitude < 0.6, "\(state)")
        rig.advance(to: 60)
        let pushed = rig.pushes.last.flatMap { Rig.aps($0.push)?["content-state"]?["lap"]?.double }
        #expect(pushed == state)
    }

    @Test func `a one-shot clip keeps its duration and ends on its last value`() {
        var rig = Rig.running(.frequent, until: 10)
        let before = rig.pushes.count
        rig.command(
            .play,
            #"{"flipbook":{"path":"/lap","frames":[0,1,2,3,4,5,6,7,8,9],"every":"1s","loop":"once"}}"#
        )
        rig.advance(to: 60)
        #expect(Self.frames(rig, from: before).last == "9")
        #expect(rig.pushes.last!.at.seconds <= 10 + 10 + 5)
    }

    /// Found by the runner's steps: the clip's last value stood for ever after.
    @Test(arguments: [BudgetClass.lab, .frequent])
    func `what is said of a clip's place after its end counts`(budgetClass: BudgetClass) {
        var rig = Rig.running(budgetClass)
        rig.command(
            .play, #"{"flipbook":{"path":"/lap","frames":[7,8,9],"every":"100ms","loop":"once"}}"#)
        rig.advance(to: 20)
        #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"lap":9}"#)
        rig.command(.update, #"{"state":{"other":1}}"#)
        rig.update(lap: 2, until: 60)
        #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"lap":2,"other":1}"#)
        #expect(rig.view().map { "\($0.state)" } == #"{"lap":2,"other":1}"#)
        #expect(rig.crash(recoverAt: 61).isEmpty)
        #expect(rig.view().map { "\($0.state)" } == #"{"lap":2,"other":1}"#)
        let frames = rig.view()!.destinations[0].frames
        #expect(frames.asked == frames.sent + frames.merged + frames.skipped)
    }

    @Test func `a clip that cannot fit is refused with the bytes that it is over`() throws {
        var rig = Rig.running(.lab)
        let large = String(repeating: "x", count: 4_100)
        rig.command(
            .play, #"{"flipbook":{"path":"/lap","frames":["a","\#(large)"],"every":"100ms"}}"#)
        let refusal = try #require(rig.answers.last?.refused)
        #expect(refusal.code == .payloadTooLarge)
        #expect(refusal.bytesOver! > 0)
    }

    @Test func `the plan tells what a phone will get before it plays`() {
        var rig = Rig.running(.frequent)
        rig.command(.play, Self.clip)
        let plan = rig.lastAccepted?.plan
        #expect(plan?.budgetClass == .frequent)
        #expect(plan?.askedFramesPerSecond == 10)
        #expect(plan?.grantedFramesPerSecond == 0.2)
        #expect(plan?.bestEffort == true)
        #expect(rig.lastAccepted?.clip == "clip_2")
    }
}
