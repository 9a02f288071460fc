import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// A start waits at most `start_wait` on a device, whatever holds it (pacing rule 5).
@Suite struct StartWaitTests {
    /// What holds a start back, and how it ends.
    enum Obstacle: CaseIterable {
        case token, budget, pause, alertPause, upstream, backOff
    }

    private static let refusal = PushResult.refusal(403, "InvalidProviderToken", .providerToken)
    private static let tooMany = PushResult.refusal(429, "TooManyRequests", .tokenBackOff)

    private static func start(_ more: String = "") -> String {
        #"{"type":"Runner","audience":{"device":"phone"},"state":{"lap":0}\#(more)}"#
    }

    private static func starts(_ rig: borrowing Rig) -> [Push] {
        rig.pushes.map(\.push).filter { $0.event == .start }
    }

    /// A phone whose start waits.
    private static func waiting(
        for obstacle: Obstacle, _ more: String = "", until seconds: Double? = nil
    ) -> Rig {
        var rig = Rig()
        rig.device("phone", .lab)
        if obstacle != .token { rig.token("start:Runner", "aa") }
        switch obstacle {
        case .token: break
        case .budget:
            for number in 1...10 { rig.command(.start, start(), id: "dog-\(number)") }
            rig.advance(to: 1)
        case .pause: _ = rig.pause(#"{"activity":"cat"}"#)
        case .alertPause: _ = rig.pause(#"{"activity":"cat","alerts_only":true}"#)
        case .upstream: rig.verdict = { _ in refusal }
        case .backOff: rig.verdict = { _ in tooMany }
        }
        rig.command(.start, start(more))
        if let seconds { rig.advance(to: seconds) }
        return rig
    }

    private static func lift(_ obstacle: Obstacle, _ rig: inout Rig) {
        rig.verdict = { _ in .accepted }
        if obstacle == .token { rig.token("start:Runner", "aa") }
        for pause in rig.core.pauses(of: Rig.tenant) { rig.resume(pause.number) }
    }

    @Test(arguments: Obstacle.allCases)
    func `no card begins after fifteen minutes, whatever held its start`(_ obstacle: Obstacle) {
        var rig = Self.waiting(for: obstacle, until: 800)
        let before = rig.ledgers()[0]
        #expect(before.ledger.counts.startWait == 0 && before.ledger.waiting(at: 1) == 1)
        rig.advance(to: 902)
        let after = rig.ledgers()[0].ledger
        #expect(after.counts.startWait == 1 && after.waiting(at: 1) == 0)
        Self.lift(obstacle, &rig)
        let count = rig.pushes.count
        rig.advance(to: 20_000)
        #expect(rig.pushes.count == count, "\(rig.line(from: count))")
        #expect(rig.view()?.destinations.first?.phase == "gone")
    }

    @Test(arguments: Obstacle.allCases.filter { $0 != .budget })
    func `a start that may go before that goes`(_ obstacle: Obstacle) {
        var rig = Self.waiting(for: obstacle, until: 300)
        Self.lift(obstacle, &rig)
        rig.advance(to: 899)
        #expect(rig.pushes.last?.push.event == .start)
        #expect(rig.ledgers()[0].ledger.counts.sent == 1)
    }

    @Test(arguments: [
        (10, #"{"title":"new","body":"b","sound":"default"}"#),
        (119, #"{"title":"new","body":"b","sound":"default"}"#),
        (121, #"{"title":"new","body":"b"}"#), (800, #"{"title":"new","body":"b"}"#),
    ])
    func `a start comes with the newest alert, and rings only while that is news`(
        _ second: Double, _ alert: String
    ) {
        var rig = Self.waiting(
            for: .token, #","alert":{"title":"old","body":"b","sound":"default"}"#)
        rig.command(
            .update,
            #"{"state":{"lap":1},"alert":{"title":"new","body":"b","sound":"default"}}"#)
        rig.update(lap: 2, until: second)
        Self.lift(.token, &rig)
        rig.advance(to: second + 5)
        let start = Self.starts(rig)
        #expect(start.count == 1)
        let sent = start.first.flatMap { Rig.aps($0)?["alert"]?.json.bytes } ?? []
        #expect(String(decoding: sent, as: UTF8.self) == alert)
        #expect(start.first.map(Rig.state) == #"{"lap":2}"#)
    }

    @Test(arguments: [
        ("", "", 900.0), (#"{"start_wait":"1m"}"#, "", 60),
        (#"{"start_wait":"1m"}"#, #","start_wait":"30m""#, 1_800),
        ("", #","start_wait":"1s""#, 1), ("", #","start_wait":"12h""#, 43_200),
    ])
    func `a start says how long it waits, else its type does`(
        _ type: String, _ start: String, _ end: Double
    ) {
        var rig = Rig()
        if !type.isEmpty { rig.type(type) }
        rig.device()
        rig.command(.start, Self.start(start))
        rig.advance(to: end - 0.5)
        #expect(rig.view()?.destinations.first?.waiting?.reason == "no_start_token")
        rig.advance(to: end + 0.5)
        #expect(rig.ledgers()[0].ledger.counts.startWait == 1)
    }

    @Test(arguments: ["0s", "999ms", "12h1s", "", "-1m"])
    func `a wait of less than a second or more than a card's life is refused`(_ wait: String) {
        let body = Rig.json(Self.start(#","start_wait":"\#(wait)""#))
        #expect(throws: FieldErrors.self) { try Command.Content(kind: .start, body) }
    }

    @Test func `another wait is another start`() {
        var rig = Rig()
        rig.command(.start, Self.start(#","start_wait":"5m""#))
        rig.command(.start, Self.start(#","start_wait":"5m""#))
        #expect(rig.lastAccepted?.changed == false)
        rig.command(.start, Self.start())
        #expect(rig.lastRefusal == .activityRunning)
    }

    @Test func `the wait continues while no relay runs`() {
        var rig = Self.waiting(for: .token, until: 100)
        #expect(rig.crash(recoverAt: 500) == [])
        rig.advance(to: 895)
        #expect(rig.view()?.destinations.first?.waiting?.reason == "no_start_token")
        #expect(rig.crash(recoverAt: 2_000) == [])
        rig.token("start:Runner", "aa")
        rig.advance(to: 3_000)
        #expect(rig.pushes.isEmpty)
        #expect(rig.ledgers()[0].ledger.counts.startWait == 1)
        // What became of it is not forgotten.
        #expect(rig.crash(recoverAt: 4_000) == [])
        rig.update(lap: 1)
        #expect(rig.lastAccepted?.decision == .skipped(.startWait))
        #expect(rig.ledgers()[0].ledger.counts.startWait == 2)
    }

    @Test func `correcting the clock makes no start late`() {
        var rig = Self.waiting(for: .token, until: 100)
        rig.step(.clock(lead: .hours(24)))
        rig.advance(to: 200)
        rig.token("start:Runner", "aa")
        rig.advance(to: 300)
        #expect(Self.starts(rig).count == 1)
    }

    @Test func `what comes later ends so too, and one line of the history says it`() {
        var rig = Self.waiting(for: .token, until: 1_000)
        for lap in 1...5 { rig.command(.update, #"{"state":{"lap":\#(lap)}}"#) }
        #expect(rig.lastAccepted?.decision == .skipped(.startWait))
        #expect(rig.lastAccepted?.destinations.skipped == 1)
        #expect(rig.ledgers()[0].ledger.counts.startWait == 6)
        let lines = rig.facts.filter { $0.kind == "push.skipped" }
            .map { String(decoding: $0.body, as: UTF8.self) }
        #expect(lines.count <= 2, "\(rig.facts.map(\.kind)): \(lines)")
        #expect(lines.allSatisfy { $0.contains("start_wait") })
        #expect(lines.first?.contains("no_start_token") == true, "what held it is on record")
    }

    @Test func `alerts that would have come with it are on record as lost`() {
        var rig = Self.waiting(for: .token)
        rig.command(.update, #"{"state":{"lap":1},"alert":{"title":"t"},"alert_ttl":"1h"}"#)
        rig.advance(to: 1_000)
        #expect(rig.facts.contains { $0.kind == "alert.expired" })
    }

    @Test func `a card that the app begins itself gets the newest state`() {
        var rig = Self.waiting(for: .token, until: 1_000)
        rig.update(lap: 3)
        rig.token("activity:cat", "bb")
        rig.advance(to: 1_010)
        #expect(rig.line() == #"1000:U10{"lap":3}"#)
        rig.update(lap: 4, until: 1_100)
        #expect(rig.ledgers()[0].ledger.counts.startWait == 2)
        #expect(rig.ledgers()[0].ledger.counts.sent == 1)
    }

    @Test func `a new start begins a card, with a wait of its own`() {
        var rig = Self.waiting(for: .token, until: 1_000)
        rig.command(.end, "{}")
        rig.command(.start, Self.start()) { $0.restart = true }
        rig.advance(to: 1_800)
        rig.token("start:Runner", "aa")
        rig.advance(to: 1_850)
        #expect(Self.starts(rig).count == 1)
        #expect(rig.view()?.destinations.map(\.phase).contains("started") == true)
    }

    @Test func `a device that comes later has a wait of its own`() {
        var rig = Rig()
        rig.command(.start, Self.start())
        rig.advance(to: 5_000)
        rig.device()
        rig.advance(to: 5_800)
        rig.token("start:Runner", "aa")
        rig.advance(to: 5_850)
        #expect(Self.starts(rig).count == 1)
    }

    @Test func `a card that the app is to begin is waited for as ever`() {
        var rig = Rig()
        rig.device()
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"device":"phone","start":"adopt"},"state":{"lap":0}}"#)
        rig.advance(to: 10_000)
        rig.token("activity:cat", "bb")
        rig.advance(to: 10_100)
        #expect(rig.pushes.count >= 1)
        #expect(rig.ledgers()[0].ledger.counts.startWait == 0)
    }

    @Test func `a start that is sent again has a wait of its own`() {
        var rig = Rig.phone()
        rig.verdict = { _ in .unknown(reason: "cut") }
        rig.command(.start, Self.start(#","start_wait":"20s","on_unknown_start":"resend""#))
        rig.advance(to: 60)
        rig.verdict = { _ in .accepted }
        rig.advance(to: 200)
        #expect(Self.starts(rig).count == 2)
    }

    @Test func `a renewal that waits is not skipped`() {
        var rig = CardLifeTests.running(
            #","renew":"always","start_wait":"1m""#, until: 7 * 3_600 + 2_300)
        let pause = rig.pause(#"{"activity":"cat"}"#)
        rig.advance(to: 7 * 3_600 + 2_900)
        rig.resume(pause)
        rig.advance(to: 7 * 3_600 + 2_950)
        #expect(Self.starts(rig).count == 2, "\(rig.line())")
    }

    @Test func `a refused start that was skipped since can be sent again`() {
        var rig = Rig.phone()
        rig.verdict = { _ in .refusal(400, "BadDeviceToken", .tokenMisplaced) }
        rig.command(.start, Self.start())
        rig.advance(to: 1_000)
        #expect(rig.ledgers()[0].ledger.counts.startWait == 1)
        rig.verdict = { _ in .accepted }
        rig.token("start:Runner", "ab")
        rig.retry(until: 1_100)
        #expect(Self.starts(rig).count == 2, "\(rig.answers.suffix(1))")
    }

    @Test func `a start that was skipped leaves its part of the budget to others`() {
        var rig = Self.waiting(for: .backOff, until: 1_000)
        rig.verdict = { _ in .accepted }
        let count = rig.pushes.count
        for number in 1...9 { rig.command(.start, Self.start(), id: "fox-\(number)") }
        rig.advance(to: 1_800)
        #expect(rig.pushes.count - count == 9)
    }

    @Test func `a refused start that an operator sends again has a wait of its own`() {
        var rig = Rig.phone()
        rig.verdict = { _ in .refusal(400, "BadTopic", .topic) }
        rig.command(.start, Self.start())
        rig.advance(to: 5_000)
        rig.verdict = { _ in .accepted }
        rig.retry(until: 5_100)
        #expect(Self.starts(rig).count == 2)
    }
}
