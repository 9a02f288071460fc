import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// A replay comes near to what the relay did, whatever the history holds: channels, clips that go
/// on after the last event, activities of days ago.
@Suite struct GrantReplayWorldTests {
    private static func replay(
        _ rig: borrowing Rig, only: ActivityNumber? = nil,
        _ change: (inout Budgets) -> Void = { _ in }
    ) -> GrantReplayOutcome {
        var configuration = CoreConfiguration(apps: rig.core.configuration.apps)
        change(&configuration.budgets)
        var newest: [String: Record] = [:]
        for record in rig.stored { newest["\(record.space) \(record.number)"] = record }
        var replay = GrantReplay(
            configuration: configuration, records: Array(newest.values), names: [:], only: only)
        for event in rig.history { replay.apply(event) }
        return replay.finish()
    }

    private static func number(_ rig: borrowing Rig, _ id: String) throws -> ActivityNumber {
        let name = try #require(Identifier(id))
        return try #require(rig.core.number(of: ActivityKey(tenant: Rig.tenant, id: name)) ?? nil)
    }

    private static func frames(_ rig: borrowing Rig, _ id: String = "cat") -> FrameCounts? {
        rig.view(id)?.destinations.first?.frames
    }

    /// Each went to nobody, and the history seemed to cost nothing.
    @Test func `pushes to a channel are replayed`() {
        var rig = Rig()
        rig.channel("final", "apple-1")
        rig.command(.start, #"{"type":"Match","audience":{"channel":"final"},"state":{"lap":0}}"#)
        rig.laps(1...200) { Double($0) }
        rig.command(.end, "{}")
        rig.advance(to: 300)
        let outcome = Self.replay(rig)
        #expect(outcome.pushes == Int64(rig.pushes.count))
        #expect(outcome.highPriority == Int64(rig.pushes.count { $0.push.priority == 10 }))
        #expect(outcome.decisions.decided == outcome.events)
        let tight = Self.replay(rig) {
            $0[.channel].lowPrioritySpacing = .seconds(60)
            $0[.channel].perHour = 6
            $0[.channel].burst = 1
        }
        #expect(tight.pushes < outcome.pushes / 2)
        #expect(tight.lags.worst > outcome.lags.worst)
    }

    /// Three phones had each its own pushes, where one had reached them all.
    @Test func `cards on a channel of their own are replayed with one push for all`() {
        var rig = Rig()
        rig.makesChannels = true
        for phone in ["a", "b", "c"] {
            rig.device(phone, .standard, os: "26.0")
            rig.token("start:Runner", "\(phone)\(phone)", phone)
        }
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"devices":["a","b","c"],"start":"channel"},"#
                + #""state":{"lap":0}}"#)
        rig.laps(1...50) { Double($0) * 2 }
        rig.command(.end, "{}")
        rig.advance(to: 200)
        let outcome = Self.replay(rig)
        #expect(outcome.pushes == Int64(rig.pushes.count))
        #expect(outcome.waiting == 0)
        #expect(outcome.lags.worst > .zero, "the channel lags, and its listeners with it")
    }

    @Test(arguments: [BudgetClass.standard, .lab])
    func `a clip that plays once is replayed to its end, also after the last event`(
        _ budgetClass: BudgetClass
    ) throws {
        var rig = Rig.running(budgetClass, until: 10)
        rig.command(.play, #"{"tween":{"path":"/lap","to":90,"duration":"40s","easing":"linear"}}"#)
        rig.advance(to: 100)
        for only in [nil, try Self.number(rig, "cat")] {
            let outcome = Self.replay(rig, only: only)
            #expect(outcome.frames == Self.frames(rig))
            #expect(outcome.pushes + outcome.framePushes == Int64(rig.pushes.count))
        }
    }

    @Test func `a loop is counted until the history's last event, whoever's that is`() throws {
        var rig = Rig.running(.frequent)
        rig.command(.play, ClipTests.clip)
        rig.advance(to: 60.05)
        rig.command(.start, #"{"type":"Other","state":{}}"#, id: "dog")
        let outcome = Self.replay(rig, only: try Self.number(rig, "cat"))
        #expect(outcome.frames == Self.frames(rig))
        #expect(outcome.frames.asked == 601)
        #expect(outcome.pushes + outcome.framePushes == Int64(rig.pushes.count))
        #expect(outcome.span == .zero, "of its own events")
    }

    /// After a day an ended activity leaves the core, and took its frames along; and one that began
    /// again seemed to lag by days.
    @Test func `an activity of days ago counts, and may begin again`() {
        var rig = Rig.running(.lab)
        rig.command(.play, ClipTests.clip)
        rig.advance(to: 2.05)
        rig.command(.end, "{}")
        let before = Self.frames(rig)
        #expect(before?.asked == 21)
        rig.advance(to: 3 * 86_400)
        rig.command(.start, #"{"type":"Other","state":{}}"#, id: "dog")
        rig.advance(to: 4 * 86_400)
        rig.command(.update, #"{"state":{"n":1}}"#, id: "dog")
        let outcome = Self.replay(rig)
        #expect(outcome.frames == before)
    }
}
