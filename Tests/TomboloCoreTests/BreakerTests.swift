import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// When an upstream's breaker opens (pacing rule 14).
@Suite struct BreakerTests {
    /// True if the upstream is open after these answers. Each is a failure or not.
    static func isOpen(_ answers: some Sequence<Bool>) -> Bool {
        var upstream = Upstream()
        upstream.setCapacity(10)
        for isFailure in answers {
            if isFailure {
                upstream.failed(
                    atOnce: false, probeMax: .minutes(15), jitter: 0, now: Instant(seconds: 1_000))
            } else {
                upstream.succeeded()
            }
        }
        return upstream.isOpen(now: Instant(seconds: 1_000))
    }

    @Test func `eight failures in a row open the breaker, and seven do not`() {
        #expect(Self.isOpen([false] + [Bool](repeating: true, count: 7)))
        #expect(!Self.isOpen([false] + [Bool](repeating: true, count: 8)))
    }

    @Test func `each try that fails reports why pushes wait, and one report says that they go`() {
        var rig = Rig.running(.lab, until: 1)
        rig.verdict = { _ in .refusal(403, "InvalidProviderToken", .providerToken) }
        rig.update(lap: 1, until: 60)
        let refused = rig.notices.count
        rig.verdict = { _ in .notSent(reason: "connection refused") }
        rig.advance(to: 200)
        #expect(refused > 1 && rig.notices.count > refused)
        for (place, notice) in rig.notices.enumerated() {
            switch notice.cause {
            case .rejected(403, "InvalidProviderToken", _, _)?: #expect(place < refused)
            case .notSent("connection refused")?: #expect(place >= refused)
            default: Issue.record("\(notice)")
            }
        }
        rig.verdict = { _ in .accepted }
        rig.advance(to: 4_000)
        #expect(rig.notices.count { $0.cause == nil } == 1)
        #expect(rig.notices.last?.cause == nil)
    }

    @Test(arguments: [Span.hours(2), .hours(-2)])
    func `a clock that is set is tried as the cure`(step: Span) {
        var rig = Rig.running(.lab, until: 1)
        rig.verdict = { _ in .refusal(403, "ExpiredProviderToken", .providerToken) }
        rig.update(lap: 1, until: 4_000)
        rig.verdict = { _ in .accepted }
        let before = rig.pushes.count
        rig.advance(to: 4_001)
        #expect(rig.pushes.count == before, "the next try is minutes away")
        rig.step(.clock(lead: step))
        rig.advance(to: 4_003)
        #expect(rig.pushes.count > before)
    }

    @Test func `a possible cure is tried at once, and only once`() {
        var rig = Rig.running(.lab, until: 1)
        rig.verdict = { _ in .notSent(reason: "connection refused") }
        rig.update(lap: 1, until: 400)
        let upstream = UpstreamNumber(0)
        #expect(
            rig.core.nextTry(upstream, now: rig.now).map {
                $0 > rig.core.wall(rig.now) + .seconds(60)
            }
                == true)
        var count = rig.pushes.count
        rig.step(.probe(upstream))
        #expect(rig.pushes.count == count + 1, "not when the next try is due")
        #expect(rig.core.isParked(upstream) == true)
        rig.verdict = { _ in .accepted }
        count = rig.pushes.count
        rig.step(.probe(upstream))
        #expect(rig.pushes.count == count + 1)
        #expect(rig.core.isParked(upstream) == false)
        rig.step(.probe(upstream))
        #expect(rig.pushes.count == count + 1, "pushes go: nothing is to be tried")
    }

    /// A relay with so many phones, each with a card and a change that Apple has not answered yet.
    static func unanswered(
        _ phones: Int, capacity: Int = 1_000, until seconds: Double? = nil
    ) -> Rig {
        var rig = Rig()
        for index in 0..<phones {
            rig.device("d\(index)", .lab)
            rig.token("start:Runner", "a\(1_000 + index)0", "d\(index)")
        }
        let devices = (0..<phones).map { "\"d\($0)\"" }.joined(separator: ",")
        rig.step(.capacity(UpstreamNumber(0), capacity))
        rig.verdict = { _ in nil }
        rig.command(.start, #"{"type":"Runner","audience":{"devices":[\#(devices)]},"state":{}}"#)
        if let seconds { rig.advance(to: seconds) }
        return rig
    }

    @Test(arguments: [(7, false), (8, true)]) func `eight pushes without an answer close it`(
        _ phones: Int, _ closes: Bool
    ) {
        var rig = Self.unanswered(phones, until: 10)
        for push in rig.flying { rig.answer(push, .unknown(reason: "silence"), took: .seconds(10)) }
        #expect(rig.core.isParked(UpstreamNumber(0)) == closes)
        let silence = rig.notices.compactMap(\.silence)
        #expect(silence == (closes ? [UpstreamSilence(pushes: 8, span: .seconds(10))] : []))
    }

    @Test func `one push at a time closes it after twenty seconds without a word`() {
        var rig = Self.unanswered(8, capacity: 1)
        let upstream = UpstreamNumber(0)
        for seconds in [10.0, 20] {
            #expect(rig.core.isParked(upstream) == false)
            rig.advance(to: seconds)
            for push in rig.flying {
                rig.answer(push, .unknown(reason: "silence"), took: .seconds(10))
            }
            while rig.commit() {}
        }
        #expect(rig.core.isParked(upstream) == true)
        #expect(rig.notices.last?.silence == UpstreamSilence(pushes: 2, span: .seconds(20)))
        let waiting = rig.view()?.destinations.compactMap(\.waiting?.reason)
        #expect(waiting?.contains("upstream_closed") == true)
        #expect(waiting?.contains("stream_limit") == false, "it closed while they waited")
        rig.verdict = { _ in .accepted }
        rig.advance(to: 60)
        #expect(rig.core.isParked(upstream) == false)
        #expect(rig.notices.last?.cause == nil)
    }

    @Test func `a word in between says that Apple is there`() {
        var rig = Self.unanswered(20, until: 9)
        if let push = rig.flying.last { rig.answer(push, .accepted) }
        rig.advance(to: 10)
        for push in rig.flying { rig.answer(push, .unknown(reason: "silence"), took: .seconds(10)) }
        #expect(rig.core.isParked(UpstreamNumber(0)) == false)
    }

    @Test func `a connection that breaks with many pushes closes nothing`() {
        var rig = Self.unanswered(100, until: 1)
        for push in rig.flying { rig.answer(push, .unknown(reason: "reset"), took: .seconds(1)) }
        #expect(rig.core.isParked(UpstreamNumber(0)) == false)
    }

    @Test func `what waits for a stream says for how long Apple has said nothing`() {
        var rig = Self.unanswered(2, capacity: 1, until: 4)
        #expect(rig.view()?.destinations.compactMap(\.silence) == [])
        rig.advance(to: 6)
        #expect(rig.view()?.destinations.compactMap(\.silence) == [.seconds(6), .seconds(6)])
    }

    @Test(arguments: [1, 3]) func `an upstream that is closed is tried as often as it may be`(
        _ phones: Int
    ) {
        var rig = Rig { $0.limits.probeMax = .seconds(15) }
        for index in 0..<phones {
            rig.device("d\(index)", .lab)
            rig.token("start:Runner", "a\(1_000 + index)0", "d\(index)")
        }
        let devices = (0..<phones).map { "\"d\($0)\"" }.joined(separator: ",")
        var fate = PushResult.notSent(reason: "connection refused")
        rig.verdict = { _ in fate }
        rig.command(.start, #"{"type":"Runner","audience":{"devices":[\#(devices)]},"state":{}}"#)
        rig.advance(to: 30)
        fate = LostPushTests.fates[0]
        let upstream = UpstreamNumber(0)
        for second in 30..<400 {
            rig.advance(to: Double(second))
            let told = rig.view()?.destinations.compactMap(\.waiting?.until) ?? []
            let next = rig.core.nextTry(upstream, now: rig.now)
            #expect(told.allSatisfy { $0 == next }, "all wait for the one probe: \(told)")
            #expect(next.map { $0 > rig.core.wall(rig.now) } ?? true, "in the past")
        }
        let tries = rig.pushes.map(\.at).filter { $0 > .seconds(30) }
        let gaps = zip(tries, tries.dropFirst()).map { $1 - $0 }
        #expect(gaps.allSatisfy { $0 <= .seconds(15) }, "\(gaps)")
        #expect(tries.count > 20)
    }

    /// Five phones with a card each, of one activity.
    static func cards() -> Rig {
        var rig = Rig()
        for index in 0..<5 {
            rig.device("d\(index)", .lab)
            rig.token("start:Runner", "a\(1_000 + index)0", "d\(index)")
        }
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"devices":["d0","d1","d2","d3","d4"]},"state":{}}"#)
        for index in 0..<5 { rig.token("activity:cat", "b\(1_000 + index)0", "d\(index)") }
        rig.advance(to: 20)
        return rig
    }

    static let topics: [PushResult] = [
        .refusal(400, "DeviceTokenNotForTopic", .tokenMisplaced),
        .refusal(400, "BadTopic", .topic),
    ]

    @Test(arguments: topics)
    func `a topic that was never right closes the upstream, and kills no further token`(
        _ refusal: PushResult
    ) {
        var rig = Rig()
        rig.verdict = { _ in refusal }
        for index in 0..<5 {
            rig.device("d\(index)", .lab)
            rig.token("start:Runner", "a\(1_000 + index)0", "d\(index)")
        }
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"devices":["d0","d1","d2","d3","d4"]},"state":{}}"#)
        let upstream = UpstreamNumber(0)
        rig.advance(to: 1)
        #expect(rig.core.isParked(upstream) == true)
        rig.advance(to: 200)
        #expect(rig.core.isParked(upstream) == true)
        let (letters, _) = rig.core.deadLetters(
            DeadLetterQuery(tenant: Rig.tenant), before: nil, limit: 10)
        #expect(letters.count == Upstream.strangersMax - 1)
        rig.verdict = { _ in .accepted }
        rig.advance(to: 2_000)
        #expect(rig.core.isParked(upstream) == false)
        let reached = rig.view()?.destinations.count { $0.acknowledgedVersion == 1 }
        // A start token that is refused so is set aside, until its app registers it again.
        let lost = refusal == Self.topics[0] ? Upstream.strangersMax - 1 : 0
        #expect(reached == 5 - lost)
    }

    @Test(arguments: topics) func `a topic that was right once is not refused for all`(
        _ refusal: PushResult
    ) {
        var rig = Self.cards()
        rig.verdict = { _ in refusal }
        rig.update(lap: 1, until: 60)
        #expect(rig.core.isParked(UpstreamNumber(0)) == false)
    }

    @Test(arguments: topics) func `tokens of another app among others are their own fault`(
        _ refusal: PushResult
    ) {
        var rig = Self.cards()
        let strangers: Set = ["b10010", "b10020", "b10040"]
        rig.verdict = { strangers.contains($0.token) ? refusal : .accepted }
        rig.update(lap: 1)
        #expect(rig.core.isParked(UpstreamNumber(0)) == false)
        let (letters, _) = rig.core.deadLetters(
            DeadLetterQuery(tenant: Rig.tenant), before: nil, limit: 10)
        #expect(Set(letters.map(\.device.rawValue)) == ["d1", "d2", "d4"])
    }

    /// Phones `d0` and on, each with a card of its own that is to start. The last one is right.
    static func manyStrangers(_ count: Int) -> Rig {
        var rig = Rig()
        let refusal = topics[0]
        let right = "a\(1_000 + count)0"
        rig.verdict = { $0.token == right ? .accepted : refusal }
        for index in 0...count {
            rig.device("d\(index)", .lab)
            rig.token("start:Runner", "a\(1_000 + index)0", "d\(index)")
        }
        for index in 0...count {
            let body = #"{"type":"Runner","audience":{"device":"d\#(index)"},"state":{},"#
            rig.command(.start, body + #""alert":{"title":"a"}}"#, id: "cat-\(index)")
        }
        return rig
    }

    @Test(arguments: [9, 40]) func `a right phone is served soon, however many wrong ones wait`(
        count: Int
    ) {
        var rig = Self.manyStrangers(count)
        rig.advance(to: Double(count) * 3 + 10)
        let isServed = rig.pushes.contains { $0.push.token == "a\(1_000 + count)0" }
        #expect(isServed)
        #expect(rig.core.isParked(UpstreamNumber(0)) == false)
    }

    @Test func `an upstream that was right once stays open over a restart`() {
        var rig = Self.cards()
        _ = rig.crash(recoverAt: 30)
        let refusal = Self.topics[0]
        rig.verdict = { $0.token == "b10040" ? .accepted : refusal }
        rig.update(lap: 1, .high, until: 60)
        #expect(rig.core.isParked(UpstreamNumber(0)) == false)
        #expect(rig.pushes.last { $0.push.token == "b10040" } != nil)
    }

    @Test func `a phone that registers a right token is tried soon, also after a wrong one`() {
        var rig = Self.manyStrangers(9)
        let refusal = Self.topics[0]
        rig.verdict = { $0.token == "ff" ? .accepted : refusal }
        rig.advance(to: 600)
        #expect(rig.core.isParked(UpstreamNumber(0)) == true)
        rig.token("start:Runner", "ff", "d4")
        rig.advance(to: 610)
        #expect(rig.pushes.contains { $0.push.token == "ff" })
        #expect(rig.core.isParked(UpstreamNumber(0)) == false)
    }

    @Test func `tries become rare if all tokens are wrong`() {
        var rig = Self.manyStrangers(5)
        let refusal = Self.topics[0]
        rig.verdict = { _ in refusal }
        rig.advance(to: 4_000)
        let early = rig.pushes.count { $0.at <= .seconds(100) }
        let late = rig.pushes.count { $0.at > .seconds(3_000) }
        #expect(early > 8)
        #expect(late <= 2)
    }

    @Test func `however many wrong tokens one phone has, it closes nothing`() {
        var upstream = Upstream()
        let devices = [DeviceSlot](repeating: 7, count: 10) + [8, 9, 9]
        let wrong = devices.map { upstream.noteWrongToken(ofDevice: $0) }
        #expect(wrong == [Bool](repeating: false, count: 11) + [true, true])
        upstream.noteRightToken()
        let isStillWrong = (DeviceSlot(1)..<10).contains { upstream.noteWrongToken(ofDevice: $0) }
        #expect(!isStillWrong, "it was right once")
    }

    @Test func `half of the last hundred open it, however they are spread`() {
        let alternating = (0..<98).map { $0.isMultiple(of: 2) }
        #expect(Self.isOpen(alternating + [false, false]), "49 of 100")
        #expect(!Self.isOpen(alternating + [false, true]), "50 of 100")
    }

    @Test func `an answer more than a hundred answers ago does not count`() {
        let storm = (0..<96).map { $0.isMultiple(of: 2) }
        let calm = [Bool](repeating: false, count: 100)
        #expect(Self.isOpen(storm + calm + storm))
    }

    @Test func `no probe waits longer than the operator allows, jitter included`() {
        for jitter in [0, 0.5, 0.999] {
            var upstream = Upstream()
            upstream.setCapacity(1)
            for second in 0..<5 {
                let now = Instant(seconds: 1_000 + Int64(second) * 2)
                upstream.failed(atOnce: true, probeMax: .seconds(1), jitter: jitter, now: now)
                #expect(upstream.probeAt! <= now + .seconds(1))
                #expect(upstream.probeAt! >= now + Span(nanoseconds: 800_000_000))
            }
        }
    }

    @Test func `the first success closes it, and the storm before is forgotten`() {
        let storm = (0..<100).map { $0.isMultiple(of: 2) }
        #expect(Self.isOpen(storm + [false] + (0..<20).map { $0.isMultiple(of: 2) }))
    }
}

/// Alerts that wait their turn behind a newer one.
@Suite struct WaitingAlertTests {
    @Test func `older alerts that still wait ring after a crash too`() {
        var rig = Rig.running(.frequent, until: 10)
        rig.verdict = { _ in nil }
        for number in 1...3 {
            rig.command(.update, #"{"state":{"lap":\#(number)},"alert":{"title":"\#(number)"}}"#)
        }
        #expect(rig.flying.count == 1)
        #expect(rig.crash(recoverAt: 12) == [])
        rig.verdict = { _ in .accepted }
        rig.advance(to: 60)
        let rung = rig.pushes.compactMap { Rig.aps($0.push)?["alert"]?["title"]?.string }
        #expect(rung == ["", "1", "2", "3"])
    }

    @Test func `alerts of an incarnation before do not ring in the next`() {
        var rig = Rig.running(.frequent, until: 10)
        rig.verdict = { _ in nil }
        rig.command(.update, #"{"state":{"lap":1},"alert":{"title":"1"}}"#)
        rig.command(.update, #"{"state":{"lap":2},"alert":{"title":"2"}}"#)
        rig.command(.end, "{}")
        rig.start(lap: 9, restart: true)
        #expect(rig.crash(recoverAt: 12) == [])
        rig.verdict = { _ in .accepted }
        rig.token("activity:cat~2", "cc")
        rig.advance(to: 60)
        let rung = rig.pushes.filter { $0.push.token != "bb" }
            .compactMap { Rig.aps($0.push)?["alert"]?["title"]?.string }
        #expect(rung.allSatisfy { $0 == "" })
    }
}
