import CoreRig
import TestSupport
import Testing
import TomboloCore
import TomboloJSON

/// Inactive is not background: the classifier's windows, the table of transitions, the lease, and
/// what it holds back (pacing rule 12; scenario `window`).
@Suite struct PresenceTests {
    // MARK: The classifier

    /// Whether a touch at `y` (and `x`) followed by resigning after `milliseconds` is a Control
    /// Center.
    private static func isCovered(
        _ edge: PresenceClassifier.Edge, x: Double = 0.5, y: Double, after milliseconds: Int64,
        hidden: Bool = false
    ) -> Bool {
        var classifier = PresenceClassifier(edge: edge)
        let touch = PresenceSignal(.touch(x: x, y: y), at: nil, statusBarHidden: hidden)
        _ = classifier.classify(touch, at: Rig.epoch)
        let heard = classifier.classify(
            PresenceSignal(.willResignActive, at: nil), at: Rig.epoch + .milliseconds(milliseconds))
        return heard?.cause == .controlCenter
    }

    @Test func `a touch in the lowest tenth arms for half a second, both edges`() {
        #expect(Self.isCovered(.bottom, y: 0.9, after: 0))
        #expect(Self.isCovered(.bottom, y: 0.9, after: 499))
        #expect(!Self.isCovered(.bottom, y: 0.9, after: 500))
        #expect(!Self.isCovered(.bottom, y: 0.8999, after: 100))
    }

    @Test func `without a status bar it arms for two seconds and three quarters, both edges`() {
        #expect(Self.isCovered(.bottom, y: 1, after: 2_749, hidden: true))
        #expect(!Self.isCovered(.bottom, y: 1, after: 2_750, hidden: true))
    }

    @Test func `at the top right only the other edge arms, and the bottom arms nothing`() {
        #expect(Self.isCovered(.topRight, x: 0.5, y: 0.1, after: 100))
        #expect(!Self.isCovered(.topRight, x: 0.4999, y: 0.1, after: 100))
        #expect(!Self.isCovered(.topRight, x: 0.9, y: 0.1001, after: 100))
        #expect(!Self.isCovered(.topRight, x: 0.9, y: 0.95, after: 100))
        #expect(!Self.isCovered(.bottom, x: 0.9, y: 0.05, after: 100))
    }

    @Test func `the table that the phones pass too`() throws {
        let rows = try ProtocolFiles.json("examples/window/control-center.json")
        #expect(rows.count > 20)
        for row in rows.elements {
            let edge: PresenceClassifier.Edge =
                row["control_center"]?.string == "top_right" ? .topRight : .bottom
            var classifier = PresenceClassifier(edge: edge)
            let bar = PresenceSignal(
                .statusBar, at: nil, statusBarHidden: row["status_bar"]?.bool == false)
            _ = classifier.classify(bar, at: Rig.epoch)
            for touch in try #require(row["touches"]).elements {
                let place = PresenceSignal.Kind.touch(
                    x: try #require(touch["x"]?.double) / 390,
                    y: try #require(touch["y"]?.double) / 844)
                _ = classifier.classify(
                    PresenceSignal(place, at: nil),
                    at: Rig.epoch + .milliseconds(try #require(touch["at_ms"]?.integer)))
            }
            let resigned = Rig.epoch + .milliseconds(try #require(row["resigns_at_ms"]?.integer))
            let heard = classifier.classify(
                PresenceSignal(.willResignActive, at: nil), at: resigned)
            let isCovered = heard?.cause == .controlCenter
            #expect(isCovered == (row["is"]?.string == "covered"), "\(row["case"]?.string ?? "")")
        }
    }

    @Test func `each touch at the edge arms the timer again`() {
        var classifier = PresenceClassifier(edge: .bottom)
        for milliseconds in [Int64(0), 400, 800] {
            _ = classifier.classify(
                PresenceSignal(.touch(x: 0, y: 1), at: nil),
                at: Rig.epoch + .milliseconds(milliseconds))
        }
        let heard = classifier.classify(
            PresenceSignal(.willResignActive, at: nil), at: Rig.epoch + .milliseconds(1_299))
        #expect(heard?.cause == .controlCenter)
    }

    // MARK: The table

    private struct Step {
        var phase: PresenceReport.Phase
        var cause: PresenceReport.Cause?
        var after: Double
        var gives: Presence.Transition
    }

    private static func step(
        _ phase: PresenceReport.Phase, _ gives: Presence.Transition, after: Double = 1,
        _ cause: PresenceReport.Cause? = nil
    ) -> Step { Step(phase: phase, cause: cause, after: after, gives: gives) }

    private static let lines: [[Step]] = [
        [
            step(.active, .returning), step(.inactive, .covered, .controlCenter),
            step(.active, .returning), step(.active, .none),
        ],
        [
            step(.active, .returning), step(.inactive, .covered, .controlCenter),
            step(.background, .leaving), step(.background, .none),
        ],
        [
            step(.active, .returning), step(.inactive, .leaving, .other("call")),
            step(.inactive, .none), step(.background, .none), step(.inactive, .returning),
            step(.active, .none), step(.background, .leaving),
        ],
        [step(.active, .returning), step(.inactive, .leaving), step(.active, .none, after: 0.2)],
        [
            step(.active, .returning), step(.inactive, .leaving),
            step(.active, .returning, after: 0.3),
        ],
        [step(.background, .none), step(.active, .returning), step(.active, .none)],
    ]

    @Test(arguments: lines.indices)
    func `the table of transitions`(line: Int) {
        var presence = Presence()
        var now = Rig.epoch
        for step in Self.lines[line] {
            now = now + Span(nanoseconds: Int64(step.after * 1e9))
            let transition = presence.follow(
                step.phase, cause: step.cause, observed: nil, now: now, wall: now)
            #expect(transition == step.gives)
        }
    }

    @Test func `in front lapses after ninety seconds, both edges, and leaving after its grace`() {
        var presence = Presence()
        _ = presence.follow(.active, cause: nil, observed: nil, now: Rig.epoch, wall: Rig.epoch)
        #expect(presence.isInFront(at: Rig.epoch + .milliseconds(89_999)))
        #expect(!presence.isInFront(at: Rig.epoch + .seconds(90)))
        #expect(presence.changesAt(now: Rig.epoch) == Rig.epoch + .seconds(90))
        let later = Rig.epoch + .seconds(10)
        _ = presence.follow(.inactive, cause: nil, observed: nil, now: later, wall: later)
        #expect(presence.isInFront(at: later + .milliseconds(299)))
        #expect(!presence.isInFront(at: later + .milliseconds(300)))
    }

    @Test func `an older report is dropped, and one ahead of the clock counts as its arrival`() {
        var presence = Presence()
        let now = Rig.epoch + .seconds(100)
        #expect(
            presence.follow(.active, cause: nil, observed: now + .hours(1), now: now, wall: now)
                == .returning)
        let older = presence.follow(
            .background, cause: nil, observed: now - .milliseconds(1), now: now, wall: now)
        #expect(older == nil)
        let same = presence.follow(.background, cause: nil, observed: now, now: now, wall: now)
        #expect(same == .leaving)
    }

    // MARK: The gate

    @Test func `frames stop while the app is in front and go on where they stopped`() {
        var rig = Rig.running(.lab, until: 1)
        let before = rig.pushes.count
        rig.command(.play, Self.shown)
        rig.advance(to: 1.25)
        rig.presence(.active)
        rig.advance(to: 5)
        #expect(ClipTests.frames(rig, from: before) == ["1", "2"])
        rig.presence(.inactive)
        rig.advance(to: 5.25)
        #expect(rig.pushes.count == before + 2, "the grace is 300 ms")
        rig.advance(to: 5.55)
        #expect(ClipTests.frames(rig, from: before) == ["1", "2", "3", "4", "0"])
        #expect(rig.pushes[before + 2].at.seconds == 5.3, "at the instant of leaving")
        let counts = rig.view()!.destinations[0].frames
        #expect(counts.hidden == 40)
        #expect(counts.asked == counts.sent + counts.merged + counts.skipped)
    }

    @Test func `a silent phone counts as gone after ninety seconds`() {
        var rig = Rig.running(.lab, until: 1)
        rig.presence(.active)
        rig.advance(to: 12)
        let before = rig.pushes.count
        rig.command(.play, Self.shown)
        rig.advance(to: 90.99)
        #expect(rig.pushes.count == before, "the state it had is what the phone shows")
        rig.advance(to: 91.15)
        #expect(ClipTests.frames(rig, from: before) == ["1"])
    }

    @Test func `states and alerts pass while frames wait`() {
        var rig = Rig.running(.lab, until: 1)
        rig.command(.play, Self.shown)
        rig.advance(to: 2)
        rig.presence(.active)
        let before = rig.pushes.count
        rig.command(.update, #"{"state":{"name":"Mike"}}"#)
        rig.command(.update, #"{"state":{"name":"Ann"},"alert":{"title":"a"}}"#)
        rig.advance(to: 4)
        let texts = rig.pushes.dropFirst(before).map { Rig.state($0.push) }
        #expect(texts.last == #"{"lap":0,"name":"Ann"}"#, "the frame shown stays")
        #expect(texts.count == 2)
    }

    @Test func `frames are always sent if the start asks for it`() {
        var rig = Rig()
        rig.device("phone", .lab)
        rig.token("activity:cat", "bb")
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"device":"phone"},"state":{"lap":0},"show_when":{"frames":"always"}}"#
        )
        rig.presence(.active)
        rig.command(.play, Self.shown)
        let before = rig.pushes.count
        rig.advance(to: 1.05)
        #expect(rig.pushes.count > before + 8)
    }

    @Test func `the end of a running shown clip keeps each phone's last frame`() {
        var rig = Rig()
        for (phone, budgetClass) in [("one", BudgetClass.lab), ("two", .lab)] {
            rig.device(phone, budgetClass)
            rig.token("activity:cat", "bb" + (phone == "one" ? "11" : "22"), phone)
        }
        rig.command(
            .start, #"{"type":"Runner","audience":{"devices":["one","two"]},"state":{"lap":0}}"#)
        rig.advance(to: 1)
        rig.command(.play, Self.shown)
        rig.advance(to: 1.15)
        rig.presence(.active, "two")
        rig.advance(to: 1.35)
        rig.command(.end, "{}")
        let ends = rig.pushes.filter { $0.push.event == .end }.map { Rig.state($0.push) }
        #expect(Set(ends) == [#"{"lap":3}"#, #"{"lap":1}"#])
        #expect(String(decoding: rig.view()!.state.bytes, as: UTF8.self) == #"{"lap":3}"#)
    }

    @Test func `a place that the end gives counts on every phone`() {
        var rig = Rig.running(.lab, until: 1)
        rig.command(.play, Self.shown)
        rig.advance(to: 1.35)
        rig.command(.end, #"{"state":{"lap":9}}"#)
        #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"lap":9}"#)
    }

    static let shown =
        #"{"flipbook":{"path":"/lap","frames":[0,1,2,3,4],"every":"100ms","clock":"shown"}}"#
}
