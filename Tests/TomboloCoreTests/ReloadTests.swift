import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// Widgets and controls are told that there is something new, within budgets of their own.
@Suite struct ReloadTests {
    static func rig(os: String = "26.1") -> Rig {
        var rig = Rig()
        rig.device("phone", .standard, user: "u42", os: os)
        rig.token("widget", "ee")
        rig.token("control:lock", "ff")
        return rig
    }

    static let phone = #"{"device":"phone"}"#

    static func line(_ rig: borrowing Rig) -> String {
        rig.pushes.map { "\(Rig.text($0.at)):\($0.push.surface) \($0.push.token)" }
            .joined(separator: " ")
    }

    @Test func `a reload is one push without content, merged in bursts, one in five minutes`() {
        var rig = Self.rig()
        for _ in 0..<5 { rig.reload(Self.phone) }
        rig.advance(to: 1)
        rig.reload(Self.phone)
        rig.reload(Self.phone)
        rig.advance(to: 3_000)
        #expect(Self.line(rig) == "0:widgets ee 300:widgets ee")
        let push = rig.pushes[0].push
        #expect(
            String(decoding: push.payload, as: UTF8.self) == #"{"aps":{"content-changed":true}}"#)
        #expect(push.priority == 10)
        #expect(push.expiration == rig.pushes[0].at.nanoseconds / 1_000_000_000 + 1_700_003_600)
    }

    @Test func `four reloads, then one every forty minutes: forty a day`() {
        var rig = Self.rig()
        for minute in 0..<(24 * 12) {
            rig.advance(to: Double(minute * 300))
            rig.reload(Self.phone)
        }
        #expect((38...40).contains(rig.pushes.count), "\(rig.pushes.count)")
        #expect(rig.pushes[4].at.seconds >= 2_400)
    }

    @Test func `before 26 the app itself is woken, at priority 5`() {
        var rig = Self.rig(os: "18.4")
        rig.reload(#"{"user":"u42"}"#)
        let push = rig.pushes[0].push
        #expect(push.surface == .background)
        #expect(push.priority == 5, "10 is refused")
        #expect(
            String(decoding: push.payload, as: UTF8.self) == #"{"aps":{"content-available":1}}"#)
    }

    @Test func `a control has its own token and budget: four, then one a minute`() {
        var rig = Self.rig()
        for second in 0..<120 {
            rig.advance(to: Double(second))
            rig.reload(Self.phone, control: "lock")
        }
        #expect(rig.pushes.allSatisfy { $0.push.surface == .control && $0.push.token == "ff" })
        #expect((5...6).contains(rig.pushes.count), "\(rig.pushes.count)")
        rig.advance(to: 200)
        let last = rig.pushes.last?.at.seconds ?? 0
        #expect(last >= 119, "the last wish is fulfilled too")
    }

    @Test func `a device without a token is counted and gets no push`() throws {
        var rig = Self.rig()
        rig.reload(#"{"devices":["phone","other"]}"#, control: "door")
        #expect(rig.pushes.isEmpty)
        let stored = try #require(rig.answers.last?.stored)
        #expect(stored.count == 0)
        #expect(stored.unreachable == 2)
    }

    @Test func `a dead token is retired, and Apple's bad days are waited out`() {
        var rig = Self.rig()
        rig.verdict = { _ in .refusal(503, "ServiceUnavailable", .upstream) }
        rig.reload(Self.phone)
        rig.advance(to: 20)
        rig.verdict = { _ in .accepted }
        rig.advance(to: 400)
        #expect(rig.pushes.count >= 2)
        let count = rig.pushes.count
        rig.verdict = { _ in CardLifeTests.gone }
        rig.advance(to: 1_000)
        rig.reload(Self.phone)
        rig.advance(to: 2_000)
        rig.reload(Self.phone)
        rig.advance(to: 3_000)
        #expect(rig.pushes.count == count + 1)
        #expect(!OrphanTests.names(rig).contains("widget"))
    }

    @Test func `an attempt that was surely not processed is no send, also of a reload`() {
        var rig = Self.rig()
        rig.answerFirst(2, with: .refusal(429, "TooManyRequests", .tokenBackOff))
        rig.reload(Self.phone)
        rig.advance(to: 100)
        #expect(Self.line(rig) == "0:widgets ee 1:widgets ee 3:widgets ee")
        rig.reload(Self.phone)
        rig.advance(to: 400)
        #expect(rig.pushes.last?.at == .seconds(303))
    }

    @Test func `where there is one place, a reload has its turn too`() {
        var rig = Self.rig()
        for id in ["a", "b"] {
            rig.device(id, .lab)
            rig.token("activity:\(id)", "bb0\(id)", id)
            rig.command(
                .start, #"{"type":"Runner","audience":{"device":"\#(id)"},"state":{}}"#, id: id)
        }
        rig.advance(to: 10)
        rig.step(.capacity(UpstreamNumber(0), 1))
        rig.verdict = { _ in nil }
        let before = rig.pushes.count
        for tick in 0..<10 {
            rig.advance(to: 10 + Double(tick) * 0.7)
            for id in ["a", "b"] { rig.command(.update, #"{"state":{"n":\#(tick)}}"#, id: id) }
            if tick == 2 { rig.reload(Self.phone, control: "lock") }
            if let push = rig.flying.first { rig.answer(push, .accepted) }
        }
        let tokens = rig.pushes.dropFirst(before).map(\.push.token)
        #expect(tokens.prefix(6).contains("ff"), "\(tokens)")
        #expect(tokens.count { $0 == "ff" } == 1)
        #expect(Set(tokens.suffix(3)) == ["bb0a", "bb0b"])
    }

    @Test func `a token that is gone hands its reload to the next one`() {
        var rig = Self.rig()
        rig.verdict = { $0.token == "ee" ? CardLifeTests.gone : .accepted }
        rig.reload(Self.phone)
        rig.advance(to: 400)
        #expect(Self.line(rig) == "0:widgets ee")
        rig.token("widget", "e2")
        rig.advance(to: 401)
        #expect(Self.line(rig) == "0:widgets ee 400:widgets e2")
        rig.advance(to: 9_000)
        #expect(rig.pushes.count == 2, "once")
    }

    @Test func `a reload on its way to a token that was replaced goes to the new one`() {
        var rig = Self.rig()
        rig.verdict = { $0.token == "ff" ? nil : .accepted }
        rig.reload(Self.phone, control: "lock")
        rig.token("control:lock", "f2")
        rig.answer(rig.flying[0], CardLifeTests.gone)
        rig.step(.tick)
        #expect(Self.line(rig) == "0:control ff 0:control f2")
    }

    @Test func `a reload that is requested during a final refusal is not refused with it`() {
        var rig = Self.rig()
        rig.verdict = { _ in nil }
        rig.reload(Self.phone, control: "lock")
        rig.reload(Self.phone, control: "lock")
        rig.verdict = { _ in .accepted }
        rig.answer(rig.flying[0], .refusal(400, "BadMessageId", .push))
        rig.step(.tick)
        rig.advance(to: 60)
        #expect(rig.pushes.count == 2)
    }

    @Test func `a token that was paid for on a slow disk is paid for again before its use`() {
        var rig = Self.rig()
        rig.commitsByItself = false
        rig.reload(Self.phone, control: "lock")
        rig.step(.tick)
        _ = rig.take()
        rig.now = Rig.epoch + .seconds(20)
        rig.commit()
        #expect(rig.pushes.isEmpty, "it was good until second 2")
        while rig.commit() {}
        #expect(Self.line(rig) == "20:control ff")
    }

    @Test func `a requested reload and its spent budget survive a crash`() {
        var rig = Self.rig()
        rig.verdict = { _ in nil }
        rig.reload(Self.phone)
        #expect(rig.pushes.count == 1)
        rig.verdict = { _ in .accepted }
        #expect(rig.crash(recoverAt: 10) == [])
        rig.advance(to: 299)
        #expect(rig.pushes.count == 1)
        rig.advance(to: 400)
        #expect(rig.pushes.count == 2)
        for minute in 7..<60 {
            rig.advance(to: Double(minute * 60))
            rig.reload(Self.phone)
        }
        #expect(rig.pushes.count <= 5, "\(rig.pushes.count)")
    }

    @Test func `a pause holds reloads`() {
        var rig = Self.rig()
        let pause = rig.pause(#"{"all":true}"#)
        rig.reload(Self.phone)
        rig.advance(to: 60)
        #expect(rig.pushes.isEmpty)
        rig.resume(pause)
        rig.advance(to: 62)
        #expect(rig.pushes.count == 1)
    }

    @Test func `one change of a door goes three ways if its type says so`() {
        var rig = Self.rig()
        rig.type(#"{"reloads":{"widgets":true,"controls":["lock"]}}"#, named: "Door")
        rig.token("start:Door", "aa")
        rig.command(
            .start, #"{"type":"Door","audience":{"device":"phone"},"state":{"locked":true}}"#,
            id: "door")
        rig.token("activity:door", "bb")
        rig.advance(to: 400)
        rig.command(.update, #"{"state":{"locked":false}}"#, id: "door")
        rig.advance(to: 401)
        let last = rig.pushes.filter { $0.at.seconds >= 400 }.map(\.push)
        #expect(Set(last.map { "\($0.surface)" }) == ["activity", "widgets", "control"])
    }
}
