import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// Devices, tokens, refusals, upstreams, and coming back after a crash.
@Suite struct DeliveryTests {
    static let start = #"{"type":"Runner","audience":{"device":"phone"},"state":{"lap":0}}"#

    @Test func `a device that comes later gets the activity of its user`() {
        var rig = Rig()
        rig.command(.start, #"{"type":"Runner","audience":{"user":"u1"},"state":{"lap":0}}"#)
        #expect(rig.view()?.status == .waiting)
        for device in ["one", "two"] {
            rig.device(device, user: "u1")
            rig.token("start:Runner", device == "one" ? "aa" : "bb", device)
        }
        rig.device("three", user: "u2")
        rig.token("start:Runner", "cc", "three")
        #expect(rig.pushes.map(\.push.token) == ["aa", "bb"])
        #expect(rig.view()?.status == .active)
    }

    @Test func `a late, older registration never undoes a newer one`() {
        var rig = Rig.running(until: 100)
        // 80 and 60 s after the rig's beginning: a time that is still to come would count as now.
        let newer = Rig.json(#"{"token":"cc","observed_at":"2023-11-14T22:14:40Z"}"#)
        let older = Rig.json(#"{"token":"dd","observed_at":"2023-11-14T22:14:20Z"}"#)
        for view in [newer, older] {
            // A test's own text.
            guard let registration = try? TokenRegistration(reading: view) else {
                Issue.record("not read")
                return
            }
            rig.tell(.putToken(TokenName("activity:cat")!, registration))
        }
        rig.advance(to: 110)
        rig.update(lap: 1)
        #expect(rig.pushes.last?.push.token == "cc")
    }

    @Test func `a 410 retires the token it is about, and nothing goes there again`() {
        var rig = Rig.running(until: 10)
        let gone = Rig.epoch + .seconds(9)
        rig.verdict = { _ in .refusal(410, "Unregistered", .tokenGone, since: gone) }
        rig.update(lap: 1)
        rig.update(lap: 2, until: 100)
        #expect(rig.pushes.count == 2)
        #expect(rig.view()?.destinations.first?.phase == "unreachable")
        rig.verdict = { _ in .accepted }
        rig.token("activity:cat", "cc")
        #expect(rig.pushes.last?.push.token == "cc")
        #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"lap":2}"#)
    }

    @Test func `a 410 from before the registration does not retire the token`() {
        var rig = Rig.running(until: 10)
        let before = Rig.epoch - .seconds(60)
        rig.answerFirst(with: .refusal(410, "Unregistered", .tokenGone, since: before))
        rig.update(lap: 1, until: 60)
        #expect(rig.view()?.destinations.first?.acknowledgedVersion == 2)
    }

    @Test func `a token that rotates in mid-flight is not retired by the old one's 410`() {
        var rig = Rig.running(until: 10)
        rig.verdict = { _ in nil }
        rig.update(lap: 1)
        rig.token("activity:cat", "cc")
        rig.verdict = { _ in .accepted }
        rig.answer(rig.flying[0], .refusal(410, "Unregistered", .tokenGone))
        rig.advance(to: 60)
        #expect(rig.pushes.last?.push.token == "cc")
        #expect(rig.view()?.destinations.first?.acknowledgedVersion == 2)
    }

    @Test func `too many requests back off that token alone`() {
        var rig = Rig.running(.frequent, until: 10)
        rig.answerFirst(2, with: .refusal(429, "TooManyRequests", .tokenBackOff))
        rig.update(lap: 1, .high, until: 60)
        #expect(rig.line(from: 1) == #"10:U10{"lap":1} 11:U10{"lap":1} 13:U10{"lap":1}"#)
    }

    @Test func `an unwell Apple is probed with one push at a time, and all go once it is well`() {
        var rig = Rig { $0.limits.probeMax = .seconds(4) }
        for index in 0..<30 {
            rig.device("d\(index)", .frequent)
            rig.token("start:Runner", "a\(1_000 + index)0", "d\(index)")
        }
        rig.step(.capacity(UpstreamNumber(0), 4))
        let devices = (0..<30).map { "\"d\($0)\"" }.joined(separator: ",")
        rig.verdict = { _ in .refusal(503, "ServiceUnavailable", .upstream) }
        rig.command(.start, #"{"type":"Runner","audience":{"devices":[\#(devices)]},"state":{}}"#)
        let storm = rig.pushes.count
        #expect((8...12).contains(storm), "the breaker opens after eight in a row")
        rig.advance(to: 60)
        #expect(rig.pushes.count - storm <= 2 + 60 / 4 + 2)
        rig.verdict = { _ in .accepted }
        rig.advance(to: 400)
        let acknowledged = rig.view()!.destinations.filter { $0.acknowledgedVersion == 1 }.count
        #expect(acknowledged == 30)
    }

    @Test func `a stream limit is kept, and whoever waits takes the newest value in its turn`() {
        var rig = Rig()
        for index in 0..<5 {
            rig.device("d\(index)", .frequent)
            rig.token("start:Runner", "a\(index)", "d\(index)")
        }
        rig.step(.capacity(UpstreamNumber(0), 2))
        rig.verdict = { _ in nil }
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"devices":["d0","d1","d2","d3","d4"]},"state":{"lap":0}}"#
        )
        #expect(rig.flying.count == 2)
        rig.update(lap: 1)
        for _ in 0..<5 {
            #expect(rig.flying.count <= 2)
            if let push = rig.flying.first { rig.answer(push, .accepted) }
            while rig.commit() {}
        }
        #expect(
            rig.pushes.map { Rig.state($0.push) }.suffix(3)
                == Array(repeating: #"{"lap":1}"#, count: 3)[...])
    }

    @Test func `where there is one place, two busy destinations take turns`() {
        var rig = Rig()
        for (index, device) in ["d0", "d1"].enumerated() {
            rig.device(device, .lab)
            rig.token("start:Runner", "a\(index)", device)
            rig.token("activity:cat\(index)", "b\(index)", device)
            let start = "{\"type\":\"Runner\",\"audience\":{\"device\":\"\(device)\"},\"state\":{}}"
            rig.command(.start, start, id: "cat\(index)")
        }
        rig.step(.capacity(UpstreamNumber(0), 1))
        rig.verdict = { _ in nil }
        let before = rig.pushes.count
        for tick in 0..<20 {
            rig.advance(to: 5 + Double(tick) * 0.05)
            for id in ["cat0", "cat1"] {
                rig.command(.update, "{\"state\":{\"n\":\(tick)}}", id: id)
            }
            if let push = rig.flying.first { rig.answer(push, .accepted) }
        }
        let tokens = rig.pushes.dropFirst(before).map(\.push.token)
        #expect(tokens.count >= 20)
        #expect(zip(tokens, tokens.dropFirst()).allSatisfy { $0 != $1 }, "\(tokens)")
    }

    @Test func `an alert that waits rides on the end, and one that cannot is on record`() {
        var rig = Rig.running(until: 10)
        // Apple's stream is taken: nothing goes meanwhile.
        rig.verdict = { _ in nil }
        rig.update(lap: 1)
        rig.command(.update, #"{"state":{"lap":2},"alert":{"title":"first"}}"#)
        rig.command(.update, #"{"state":{"lap":3},"alert":{"title":"last"}}"#)
        rig.verdict = { _ in .accepted }
        rig.command(.end, #"{"state":{"lap":4}}"#)
        rig.advance(to: 40)
        let end = rig.pushes.last { $0.push.event == .end }
        #expect(end.flatMap { Rig.aps($0.push)?["alert"]?["title"]?.string } == "last")
        let lost = rig.facts.filter { $0.kind == "alert.expired" }
        #expect(lost.count == 1)
        #expect(
            lost.first.map { String(decoding: $0.body, as: UTF8.self) }?.contains("\"version\":3")
                == true)
    }

    @Test func `with alerts paused an end goes without one, and that is on record`() {
        var rig = Rig.running(until: 10)
        _ = rig.pause(#"{"all":true,"alerts_only":true}"#)
        rig.command(.update, #"{"state":{"lap":1},"alert":{"title":"a"}}"#)
        rig.command(.end, "{}")
        rig.advance(to: 40)
        let end = rig.pushes.last { $0.push.event == .end }
        #expect(end.map { Rig.aps($0.push)?["alert"] == nil } == true)
        #expect(rig.facts.count { $0.kind == "alert.expired" } == 1)
    }

    @Test func `after a crash the newest state goes once more, and the same alert never`() {
        var rig = Rig.running(.frequent, until: 10)
        rig.verdict = { _ in nil }
        rig.command(.update, #"{"state":{"lap":1},"alert":{"title":"ring"}}"#)
        #expect(rig.pushes.last.flatMap { Rig.aps($0.push)?["alert"] } != nil)
        rig.verdict = { _ in .accepted }
        _ = rig.crash(recoverAt: 11)
        rig.advance(to: 60)
        #expect(rig.pushes.count == 3)
        #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"lap":1}"#)
        #expect(rig.pushes.last.flatMap { Rig.aps($0.push)?["alert"] } == nil)
    }

    @Test func `after a crash timestamps go on above all that can have been used`() {
        var rig = Rig.running(.lab)
        rig.command(.play, ClipTests.clip)
        rig.advance(to: 10)
        let last = rig.pushes.last.flatMap { Rig.aps($0.push)?["timestamp"]?.integer } ?? 0
        let count = rig.pushes.count
        _ = rig.crash(recoverAt: 10.2)
        rig.advance(to: 20)
        let next = rig.pushes.dropFirst(count).compactMap {
            Rig.aps($0.push)?["timestamp"]?.integer
        }
        #expect(next.count > 50, "the clip goes on: it is a function of time")
        #expect(next.first! >= last)
        #expect(zip(next, next.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test func `a head that cannot be read is reported and set aside`() {
        var core = Core(configuration: Rig.configuration(), seed: 1)
        var recovery = CoreRecovery()
        let head = ActivityHead(activity: ActivityNumber(4), value: Array("{".utf8))
        recovery.heads = [PositionedHead(head, version: 1, seq: 1)]
        recovery.records = [Record(space: .device, number: 3, value: [0])]
        #expect(core.recover(recovery, now: Rig.epoch).count == 2)
    }

    @Test func `a swipe ends what is sent to that phone`() throws {
        var rig = Rig.running()
        let report = try PhoneReport(reading: Rig.json(#"{"phase":"dismissed","by":"user"}"#))
        rig.tell(.report(ActivityReference("cat")!, report))
        rig.advance(to: 10)
        rig.update(lap: 1, until: 100)
        #expect(rig.pushes.count == 1)
    }

    private static let fresh =
        #"{"type":"Runner","audience":{"device":"phone"},"state":{},"stale_after":"2m"}"#

    @Test func `a producer that repeats itself moves the stale date, before half of it is gone`() {
        var rig = Rig.phone()
        rig.command(.start, Self.fresh)
        rig.token("activity:cat", "bb")
        for second in stride(from: 40, through: 400, by: 40) {
            rig.advance(to: Double(second))
            rig.command(.update, #"{"state":{}}"#)
        }
        var shown: Int64 = 120
        for (at, push) in rig.pushes.dropFirst() {
            #expect(at.seconds < Double(shown) && push.priority == 5)
            let date = (Rig.aps(push)?["stale-date"]?.integer ?? 0) - Rig.epoch.seconds
            #expect(date % 40 == 0 && date > shown, "it is not of an event")
            shown = date
        }
        #expect(shown > 400 && rig.pushes.count < 11, "\(rig.line())")
        let purposes = rig.facts.compactMap { DeliveryRecord($0)?.attempt?.purpose }
        #expect(Set(purposes) == [.refresh])
    }

    @Test func `the relay's own clock moves no stale date, and an echo carries the old one`() {
        var rig = Rig.phone()
        rig.command(.start, Self.fresh)
        rig.token("activity:cat", "bb")
        rig.advance(to: 30)
        rig.update(lap: 1, .low, until: 900)
        let echo = rig.pushes.last
        #expect(rig.line(from: 1) == #"30:U5{"lap":1} 630:U10{"lap":1}"#)
        let stale = echo.flatMap { Rig.aps($0.push)?["stale-date"]?.integer }
        #expect(stale == Rig.epoch.seconds + 150)
        #expect(echo.map { $0.push.expiration } == Rig.epoch.seconds + 630 + 3_600)
    }

    @Test func `a start that waited begins no card that is stale`() {
        var rig = Rig.phone()
        let pause = rig.pause(#"{"all":true}"#)
        rig.command(.start, Self.fresh)
        rig.advance(to: 500)
        rig.resume(pause)
        rig.advance(to: 510)
        let start = rig.pushes.first
        let stale = start.flatMap { Rig.aps($0.push)?["stale-date"]?.integer }
        #expect(start.map { stale == (Rig.epoch + $0.at).seconds + 60 } == true)
    }

    @Test func `lab is refused for an app whose endpoint is Apple's`() {
        var rig = Rig { $0.apps[0].allowsLab = false }
        rig.device("phone", .lab)
        #expect(rig.lastRefusal == .labRefused)
    }
}
