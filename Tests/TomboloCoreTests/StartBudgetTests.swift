import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// The phone's own budget for starts, class `start`: ten, and one more every two hours.
@Suite struct StartBudgetTests {
    static func start(_ rig: inout Rig, _ number: Int) {
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"device":"phone"},"state":{},"start_wait":"12h"}"#,
            id: "cat-\(number)")
    }

    @Test func `a phone gets ten starts, then one every two hours`() {
        var rig = Rig.phone(.lab)
        for number in 1...12 { Self.start(&rig, number) }
        rig.advance(to: 5)
        #expect(rig.pushes.count == 10)
        #expect(rig.view("cat-11")?.destinations.first?.waiting?.reason == "start_budget")
        rig.advance(to: 7_100)
        #expect(rig.pushes.count == 10)
        rig.advance(to: 7_300)
        #expect(rig.pushes.count == 11)
        rig.advance(to: 14_500)
        #expect(rig.pushes.count == 12)
    }

    @Test func `cards that never began are counted by what held them, and a start is warned`() {
        var rig = Rig.phone(.lab)
        for number in 1...12 { Self.start(&rig, number) }
        rig.advance(to: 60)
        #expect(rig.lastAccepted?.lint.contains { $0.code == .priorityBeyondBudget } == true)
        for number in 11...12 { rig.command(.end, "{}", id: "cat-\(number)") }
        let counters = rig.core.counters(of: Rig.tenant)
        #expect(counters.neverBegan == [.startBudget: 2])
        #expect(counters.lastNeverBegan?.activity == Identifier("cat-12"))
        #expect(counters.decided.annihilated >= 2)
    }

    @Test func `a start that was surely not processed costs nothing`() {
        var rig = Rig.phone(.lab)
        rig.answerFirst(3, with: .refusal(429, "TooManyRequests", .tokenBackOff))
        for number in 1...10 { Self.start(&rig, number) }
        rig.advance(to: 600)
        #expect(Set(rig.pushes.compactMap { $0.push.collapseID }).count == 10)
    }

    @Test func `starts that wait together for a better time are paid for when they go`() throws {
        var rig = Rig.phone(.lab)
        var isRefusing = true
        rig.verdict = { _ in
            isRefusing
                ? .refusal(429, "TooManyRequests", .tokenBackOff) : .accepted
        }
        for number in 1...10 { Self.start(&rig, number) }
        rig.advance(to: 1_200)
        isRefusing = false
        let before = rig.pushes.count
        Self.start(&rig, 11)
        rig.advance(to: 9_000)
        let times = rig.pushes.dropFirst(before).map(\.at.nanoseconds)
        #expect(times.count == 11)
        let (first, last) = (try #require(times.first), try #require(times.last))
        #expect(last - first >= 7_200_000_000_000)
    }

    @Test func `starts that a slow disk holds are paid for when they go`() throws {
        var rig = Rig.phone(.lab)
        rig.commitsByItself = false
        for number in 1...11 { Self.start(&rig, number) }
        // The starts are durable, and that they are tried is so much later.
        rig.commit()
        rig.advance(to: 900)
        rig.commitsByItself = true
        rig.advance(to: 15_000)
        let times = rig.pushes.map(\.at.nanoseconds)
        #expect(times.count == 11)
        let (first, last) = (try #require(times.first), try #require(times.last))
        #expect(first >= 900_000_000_000)
        #expect(last - first >= 7_200_000_000_000)
    }

    @Test func `the budget survives a crash`() {
        var rig = Rig.phone(.lab)
        for number in 1...10 { Self.start(&rig, number) }
        #expect(rig.crash(recoverAt: 10) == [])
        Self.start(&rig, 11)
        rig.advance(to: 7_000)
        #expect(rig.pushes.count == 10)
        rig.advance(to: 7_300)
        #expect(rig.pushes.count == 11)
    }
}
