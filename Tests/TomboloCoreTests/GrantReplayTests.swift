import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// A history under other grants goes through the same core.
@Suite struct GrantReplayTests {
    /// One phone, one activity, a change every two seconds for ten minutes, and its end.
    private static func busyRig(_ budgetClass: BudgetClass = .standard) -> Rig {
        var rig = Rig.running(budgetClass)
        rig.laps(1...300, .high) { Double($0) * 2 }
        rig.advance(to: 700)
        rig.command(.end, "{}")
        rig.advance(to: 800)
        return rig
    }

    private static func replay(
        _ rig: borrowing Rig, _ budgetClass: BudgetClass? = nil, speed: Double = 1,
        only: ActivityNumber? = nil, _ change: (inout Budgets) -> Void = { _ in }
    ) -> GrantReplayOutcome {
        var configuration = CoreConfiguration(apps: rig.core.configuration.apps)
        change(&configuration.budgets)
        var newest: [String: Record] = [:]
        for record in rig.stored { newest["\(record.space) \(record.number)"] = record }
        var replay = GrantReplay(
            configuration: configuration, records: Array(newest.values), names: [:], only: only,
            budgetClass: budgetClass, speed: speed)
        for event in rig.history { replay.apply(event) }
        return replay.finish()
    }

    @Test(arguments: [BudgetClass.standard, .frequent, .lab])
    func `under its own grants a history repeats itself`(_ budgetClass: BudgetClass) {
        let rig = Self.busyRig(budgetClass)
        let outcome = Self.replay(rig)
        #expect(outcome.pushes == Int64(rig.pushes.count))
        #expect(outcome.highPriority == Int64(rig.pushes.count { $0.push.priority == 10 }))
        #expect(outcome.lowPriority == Int64(rig.pushes.count { $0.push.priority == 5 }))
        #expect(outcome.events == Int64(rig.history.count))
        #expect(outcome.decisions.decided == outcome.events, "each event ends in one decision")
        #expect(outcome.waiting == 0)
        #expect(outcome.setAside == 0)
    }

    @Test func `a wider grant sends more, and the phone lags less`() {
        let rig = Self.busyRig()
        let own = Self.replay(rig)
        let wide = Self.replay(rig) { budgets in
            budgets[.standard].perHour = 600
            budgets[.standard].burst = 20
            budgets[.standard].lowPrioritySpacing = .seconds(5)
        }
        #expect(wide.pushes > own.pushes)
        #expect(wide.decisions.merged < own.decisions.merged)
        let (before, after) = (own.lags.quantile(0.5)!, wide.lags.quantile(0.5)!)
        #expect(after < before)
        #expect(own.lags.worst <= .seconds(25), "the low-priority spacing, and ten seconds")
        #expect(own.lags.count == own.events)
    }

    @Test func `another class for every device is tried without registering anything`() {
        let outcome = Self.replay(Self.busyRig(), .lab)
        #expect(outcome.decisions.merged == 0)
        #expect(outcome.lags.worst == .zero)
    }

    @Test func `ten times as fast, more is merged`() {
        let rig = Self.busyRig(.frequent)
        let (slow, fast) = (Self.replay(rig), Self.replay(rig, speed: 10))
        #expect(fast.span.nanoseconds == slow.span.nanoseconds / 10)
        #expect(fast.decisions.merged > slow.decisions.merged)
        #expect(fast.events == slow.events)
    }

    @Test func `frames of a clip are counted until the last event, not for ever`() {
        var rig = Rig.running(.frequent)
        rig.command(.play, ClipTests.clip)
        rig.advance(to: 60)
        rig.update(lap: 1)
        let outcome = Self.replay(rig)
        #expect(outcome.frames.asked == rig.view()?.destinations.first?.frames.asked)
        #expect(outcome.frames.asked == outcome.frames.sent + outcome.frames.skipped)
        #expect(outcome.framePushes > 5)
    }

    @Test func `one activity alone can be replayed, and a cut beginning is set aside`() {
        var rig = Self.busyRig()
        rig.command(
            .start, #"{"type":"Other","audience":{"device":"phone"},"state":{}}"#, id: "dog")
        let other = rig.history.last!.event.activity
        #expect(Self.replay(rig, only: other).events == 1)
        var replay = GrantReplay(
            configuration: rig.core.configuration, records: [], names: [:], only: nil)
        for event in rig.history.dropFirst() { replay.apply(event) }
        let outcome = replay.finish()
        #expect(outcome.events == 1, "the dog's start")
        #expect(outcome.setAside == Int64(rig.history.count - 2))
    }

    @Test func `a histogram of lags keeps three digits`() {
        var lags = LagHistogram()
        #expect(lags.quantile(0.5) == nil)
        for millisecond in 1...10_000 { lags.add(.milliseconds(Int64(millisecond))) }
        #expect(lags.quantile(0.5) == .milliseconds(5_000))
        #expect(lags.quantile(0.99) == .milliseconds(9_900))
        #expect(lags.quantile(1) == .milliseconds(10_000))
        #expect(lags.worst == .milliseconds(10_000))
        lags.add(Span(nanoseconds: 12_345_678_901))
        #expect(lags.quantile(1) == .milliseconds(12_300))
        #expect(lags.worst == Span(nanoseconds: 12_345_678_901))
    }
}
