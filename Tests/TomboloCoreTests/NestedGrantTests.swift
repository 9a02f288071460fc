import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// Grants nest: device (four times an activity's) → activity; the tightest wins, and a change goes
/// on from what was spent.
@Suite struct NestedGrantTests {
    /// A phone with `count` running activities, named `a0`, `a1` …
    private static func rig(_ count: Int, _ budgetClass: BudgetClass = .standard) -> Rig {
        var rig = Rig()
        rig.device("phone", budgetClass)
        for index in 0..<count {
            rig.token("activity:a\(index)", String(repeating: "\(index % 10)", count: 4))
            rig.start("a\(index)")
        }
        rig.advance(to: 100)
        return rig
    }

    /// Found by the simulation: it was paid for again and again, with every write of the disk.
    @Test func `a token that is held while the grant changes is paid for once more`() {
        let budgets = Budgets()
        var state = PacingState()
        state.reserve(budgets[.standard], now: Rig.epoch)
        let later = Rig.epoch + .seconds(60)
        state.reserve(budgets[.frequent], now: later)
        #expect(state.hasPaid(budgets[.frequent], now: later))
    }

    @Test func `priority 10 to a device stays within four times an activity's grant`() {
        var rig = Self.rig(8)
        for tick in 0..<400 {
            rig.advance(to: 100 + Double(tick) * 5)
            rig.command(
                .update, #"{"state":{"lap":\#(tick + 1)},"urgency":"high"}"#, id: "a\(tick % 8)")
        }
        rig.advance(to: 2_200)
        let high = rig.pushes.filter { $0.push.priority == 10 }.map(\.at.seconds)
        #expect(high.count > 20)
        for first in high.indices {
            for last in first..<high.count {
                let window = high[last] - high[first]
                #expect(Double(last - first + 1) <= 16 + 44 * window / 3_600 + 1e-6)
            }
        }
        let low = rig.pushes.filter { $0.push.priority == 5 }.map(\.at.seconds)
        #expect(zip(low, low.dropFirst()).allSatisfy { $1 - $0 >= 15.0 / 4 - 1e-9 })
    }

    @Test func `one activity alone never feels its device's grant`() {
        var rig = Self.rig(1)
        for tick in 0..<50 {
            rig.advance(to: 100 + Double(tick) * 20)
            rig.command(.update, #"{"state":{"lap":\#(tick + 1)},"urgency":"high"}"#, id: "a0")
            let reason = rig.view("a0")?.destinations.first?.waiting?.reason ?? ""
            #expect(!reason.hasPrefix("device"))
        }
    }

    @Test func `activities of a device take turns, and nobody starves`() {
        var rig = Self.rig(8)
        let before = rig.pushes.count
        for tick in 0..<600 {
            rig.advance(to: 100 + Double(tick))
            for index in 0..<8 {
                rig.command(
                    .update, #"{"state":{"lap":\#(tick + 1)},"urgency":"low"}"#, id: "a\(index)")
            }
        }
        let counts = (0..<8).map { index in
            let token = String(repeating: "\(index)", count: 4)
            return rig.pushes.dropFirst(before).count { $0.push.token == token }
        }
        #expect(counts.allSatisfy { $0 >= counts.max()! - 2 }, "\(counts)")
        #expect(counts.reduce(0, +) >= 150, "one each 3.75 s")
        let reasons = (0..<8).compactMap { index in
            rig.view("a\(index)")?.destinations.first?.waiting?.reason
        }
        #expect(reasons.contains("device_low_priority_spacing"))
    }

    @Test func `the device's budget is not spent a second time after a crash`() {
        var rig = Self.rig(8)
        for index in 0..<24 {
            rig.advance(to: 200 + Double(index))
            rig.command(
                .update, #"{"state":{"lap":\#(index + 1)},"alert":{"title":"a"}}"#,
                id: "a\(index % 8)")
        }
        rig.advance(to: 240)
        let spent = rig.pushes.count { $0.push.priority == 10 }
        _ = rig.crash(recoverAt: 241)
        for index in 0..<8 {
            rig.command(.update, #"{"state":{"lap":99},"alert":{"title":"b"}}"#, id: "a\(index)")
        }
        rig.advance(to: 300)
        let high = rig.pushes.count { $0.push.priority == 10 }
        #expect(high - spent <= 1, "what 60 seconds refill")
    }

    @Test func `a class that changes while a loop runs goes on from the frame shown`() {
        var rig = Rig.running(.standard, until: 10)
        let before = rig.pushes.count
        rig.command(.play, ClipTests.clip)
        rig.advance(to: 42)
        #expect(ClipTests.frames(rig, from: before) == ["1", "2", "3"])
        rig.device("phone", .frequent)
        rig.advance(to: 57)
        #expect(ClipTests.frames(rig, from: before) == ["1", "2", "3", "4", "0", "1"])
        let line = rig.pushes.dropFirst(before).map(\.at.seconds)
        #expect(zip(line, line.dropFirst()).allSatisfy { $1 - $0 >= 4.999 })
        #expect(rig.view()?.destinations.first?.grant.budgetClass == .frequent)
    }

    /// Found by the simulation: what was taken at the faster rate was worth little after it.
    @Test func `a class that changes takes what is missing with it through a crash`() {
        var rig = Self.rig(1, .frequent)
        for lap in 1...3 {
            rig.command(.update, #"{"state":{"lap":\#(lap)},"urgency":"high"}"#, id: "a0")
            rig.advance(to: 100 + Double(lap) * 1.5)
        }
        let before = rig.pushes.count
        rig.device("phone", .standard)
        #expect(rig.crash(recoverAt: 106) == [])
        for lap in 4...6 {
            rig.command(.update, #"{"state":{"lap":\#(lap)},"alert":{"title":"!"}}"#, id: "a0")
            rig.advance(to: 100 + Double(lap) * 2)
        }
        rig.advance(to: 160)
        let hasty = rig.pushes.dropFirst(before).filter { $0.push.priority == 10 }
        #expect(hasty.count == 1, "of four tokens three were spent")
    }

    @Test func `tokens that are missing stay missing under another grant`() {
        let budgets = Budgets()
        var bucket = TokenBucket()
        let now = Rig.epoch
        for _ in 0..<3 { bucket.take(budgets[.standard], now: now) }
        #expect(bucket.left(budgets[.standard], now: now) == 1)
        #expect(bucket.left(budgets[.frequent], now: now) == 17)
        for _ in 0..<17 { bucket.take(budgets[.frequent], now: now) }
        #expect(bucket.left(budgets[.frequent], now: now) == 0)
        #expect(bucket.left(budgets[.standard], now: now) == 0, "empty is not emptier than empty")
        let again = bucket.time(keeping: 0, of: budgets[.standard], now: now)!
        #expect(again - now <= .seconds(3_600 / 10 + 1))
    }
}
