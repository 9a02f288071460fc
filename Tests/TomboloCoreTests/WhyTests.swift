import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// The failures of others' relays: each is made first, by a pacer that has the fault, and then
/// shown absent on the same line of input.
@Suite struct WhyTests {
    /// Changes of one activity: at a second, a state.
    private typealias Line = [(second: Double, lap: Int)]
    private let burst: Line = [(10, 1), (10.2, 2), (10.4, 3), (10.6, 4)]

    /// What the relay makes of a line, in a class that sends each second.
    private func relay(_ line: Line, until end: Double = 60) -> [(second: Double, lap: Int)] {
        var rig = Rig.running(.frequent)
        for (second, lap) in line {
            rig.advance(to: second)
            rig.update(lap: lap, .high)
        }
        rig.advance(to: end)
        return rig.pushes.dropFirst().map { at, push in
            let lap = Rig.aps(push)?["content-state"]?["lap"]?.integer ?? -1
            return (at.seconds, Int(lap))
        }
    }

    @Test func `a throttle of the leading update alone drops the last one`() {
        var sent: Line = []
        for (second, lap) in burst where sent.last.map({ second - $0.second >= 1 }) ?? true {
            sent.append((second, lap))
        }
        #expect(sent.map(\.lap) == [1], "the fault: the card stays at 1")
        #expect(relay(burst).map(\.lap) == [1, 4])
    }

    @Test func `a debounce from the last event sends nothing while events come`() {
        let line: Line = (0..<100).map { (10 + Double($0) * 0.2, $0 + 1) }
        let quiet = 1.0
        var sent: Line = []
        for (place, (second, lap)) in line.enumerated() {
            let next = place + 1 < line.count ? line[place + 1].second : .infinity
            if next - second >= quiet { sent.append((second + quiet, lap)) }
        }
        #expect(sent.map(\.second) == [30.8], "the fault: one, when all is over")
        let ours = relay(line)
        #expect(ours.count >= 10)
        #expect(zip(ours, ours.dropFirst()).allSatisfy { $1.second - $0.second < 5.01 })
        #expect(ours.last?.lap == 100)
    }

    @Test func `follow-ups that become starts until there is a token make cards twice`() {
        var hasToken = false
        var events = ""
        for second in [0, 10, 20, 30] {
            if second == 30 { hasToken = true }
            events += hasToken ? "U" : "S"
        }
        #expect(events == "SSSU", "the fault: three cards")
        var rig = Rig.started()
        for second in [10, 20] {
            rig.advance(to: Double(second))
            rig.update(lap: second)
        }
        rig.advance(to: 30)
        rig.token("activity:cat", "bb")
        #expect(rig.pushes.map { Rig.letter($0.push.event) }.joined() == "SU")
    }

    @Test func `an end that the guard of order or the spacing stops leaves the card`() {
        // A guard that lets only newer seconds pass, and a spacing for whatever comes.
        var (last, sent) = (Int64(0), "")
        for (second, letter) in [(Int64(10), "U"), (10, "E")] where second > last {
            last = second
            sent += letter
        }
        #expect(sent == "U", "the fault: the end had the same second")
        var rig = Rig.running(until: 10)
        rig.verdict = { $0.event == .end ? .accepted : nil }
        rig.update(lap: 1)
        rig.command(.end, #"{"dismiss":"now"}"#)
        #expect(rig.line(from: 1) == #"10:U10{"lap":1} 10:E10{"lap":1}"#)
    }

    /// A phone that knows ActivityKit's rule: a timestamp that is not newer is dropped, and one in
    /// milliseconds is thousands of years ahead.
    private func phone(_ stamps: [Int64], now: Int64) -> Int {
        var last: Int64 = 0
        var shown = 0
        for stamp in stamps where stamp > last {
            if stamp < now + 8 * 3_600 { shown += 1 }
            last = stamp
        }
        return shown
    }

    @Test func `timestamps in milliseconds, or of the same second, are dropped silently`() {
        let now = Rig.epoch.seconds
        #expect(phone([now * 1_000, now + 1, now + 2], now: now) == 0, "the fault: none is shown")
        #expect(phone([now, now, now], now: now) == 1, "the fault: one of three")
        var rig = Rig.running(.frequent)
        for lap in 1...3 {
            rig.update(lap: lap, .high, until: Double(lap))
        }
        rig.advance(to: 10)
        let stamps = rig.pushes.compactMap { Rig.aps($0.push)?["timestamp"]?.integer }
        #expect(phone(stamps, now: now) == stamps.count)
    }

    @Test func `frames at priority 10 leave none for the alert`() {
        let grant = Budgets()[.standard]
        var bucket = TokenBucket()
        var now = Rig.epoch
        for _ in 0..<40 where bucket.left(grant, now: now) > 0 {
            bucket.take(grant, now: now)
            now = now + .seconds(1)
        }
        #expect(bucket.left(grant, now: now) == 0, "the fault: four frames, and the alert has none")
        var rig = Rig.running(until: 10)
        rig.command(.play, #"{"flipbook":{"path":"/lap","frames":[1,2,3],"every":"1s"}}"#)
        rig.advance(to: 600)
        rig.command(.update, #"{"state":{"name":"x"},"alert":{"title":"t"}}"#)
        #expect(Rig.aps(rig.pushes.last!.push)?["alert"] != nil)
        #expect(rig.pushes.last?.push.priority == 10)
    }

    @Test func `a loop sampled at a multiple of its period stands still`() {
        let (frames, every, granted) = (5, 0.1, 5.0)
        let sampled = (0..<20).map { Int((Double($0) * granted / every).rounded()) % frames }
        #expect(Set(sampled).count == 1, "the fault: twenty pushes of one frame")
        var rig = Rig.running(.frequent, until: 10)
        rig.command(.play, #"{"flipbook":{"path":"/lap","frames":[0,1,2,3,4],"every":"100ms"}}"#)
        rig.advance(to: 10 + granted * 19 + 1)
        let shown = rig.pushes.suffix(20)
            .compactMap { Rig.aps($0.push)?["content-state"]?["lap"]?.integer }
        #expect(Set(shown).count == frames)
    }
}
