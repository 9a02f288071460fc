import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// A token is one phone's: what the phone has had stays with it, whatever its device is called.
@Suite struct TokenHolderTests {
    private static func start(_ rig: inout Rig, _ id: String, _ audience: String) {
        rig.command(
            .start,
            #"{"type":"Runner","audience":\#(audience),"state":{"lap":0},"start_wait":"12h"}"#,
            id: id)
    }

    private static func starts(_ rig: borrowing Rig, at token: String) -> Int {
        rig.pushes.count { $0.push.event == .start && $0.push.token == token }
    }

    private static func put(
        _ rig: inout Rig, _ token: String, _ device: String, by authority: DeviceAuthority,
        name: String = "start:Runner"
    ) throws {
        let registration = try TokenRegistration(reading: Rig.json("{\"token\":\"\(token)\"}"))
        rig.tell(.putToken(try #require(TokenName(name)), registration), device, by: authority)
    }

    private static func own(_ user: String? = "u42") -> DeviceAuthority {
        .device(user: user, app: nil, key: .max)
    }

    @Test func `a device that is deleted and registered again starts no card twice`() {
        var rig = Rig()
        for round in 0..<4 {
            rig.device("phone", .lab, user: "u42")
            rig.token("start:Runner", "aa")
            if round == 0 {
                for number in 1...4 { Self.start(&rig, "cat-\(number)", #"{"user":"u42"}"#) }
            }
            rig.advance(to: Double(round + 1) * 60)
            #expect(Self.starts(rig, at: "aa") == 4, "round \(round)")
            rig.tell(.delete)
        }
        rig.device("phone", .lab, user: "u42")
        rig.token("start:Runner", "aa")
        rig.token("activity:cat-1", "bb")
        rig.command(.update, #"{"state":{"lap":1}}"#, id: "cat-1")
        rig.advance(to: 400)
        #expect(rig.pushes.last?.push.token == "bb", "the card that is there goes on")
        #expect(Self.starts(rig, at: "aa") == 4)
    }

    @Test func `a card is not started twice by a token that died before its device went`() {
        var rig = Rig.phone(.lab, user: "u42")
        Self.start(&rig, "cat", #"{"user":"u42"}"#)
        rig.advance(to: 60)
        rig.verdict = { _ in CardLifeTests.gone }
        Self.start(&rig, "dog", #"{"user":"u42"}"#)
        rig.verdict = { _ in .accepted }
        rig.advance(to: 120)
        rig.tell(.delete)
        rig.device("phone", .lab, user: "u42")
        rig.token("start:Runner", "aa")
        rig.advance(to: 180)
        rig.token("start:Runner", "bb")
        rig.advance(to: 240)
        let starts = rig.pushes.filter { $0.push.event == .start }
            .compactMap { Rig.aps($0.push)?["attributes"]?["activity_id"]?.string }
        #expect(starts.count { $0 == "cat" } == 1, "\(starts)")
    }

    @Test func `an alert rings once on a card whose device comes back without its start token`() {
        var rig = CardLifeTests.running("", user: "u42")
        rig.command(.update, #"{"state":{"lap":1},"alert":{"title":"once"}}"#)
        rig.advance(to: 60)
        rig.tell(.delete)
        rig.device("phone", user: "u42")
        rig.token("activity:cat", "bb")
        rig.advance(to: 600)
        let alerts = rig.pushes.compactMap { Rig.aps($0.push)?["alert"]?["title"]?.string }
        #expect(alerts.count { $0 == "once" } == 1, "\(alerts)")
    }

    @Test(arguments: [false, true])
    func `of a device's two cards the one with a token ends with it`(isNewerFirst: Bool) {
        var rig = CardLifeTests.running(
            #","renew":"always""#, os: "18.1", user: "u42", until: 8 * CardLifeTests.hour - 1_200)
        rig.tell(.delete)
        rig.device("phone", user: "u42", os: "18.1")
        rig.token("start:Runner", "aa")
        if isNewerFirst { rig.token("activity:cat~1.1", "cc") }
        rig.token("activity:cat", "bb")
        let before = rig.pushes.count
        rig.update(lap: 1, until: 8 * CardLifeTests.hour - 1_100)
        let shown = rig.pushes.dropFirst(before).map(\.push).filter { $0.event == .update }
        #expect(shown.map(\.token) == (isNewerFirst ? ["cc"] : []))
        if !isNewerFirst { rig.token("activity:cat~1.1", "cc") }
        rig.advance(to: 8 * CardLifeTests.hour - 1_000)
        let ends = rig.pushes.map(\.push).filter { $0.event == .end }
        #expect(Set(ends.map(\.token)) == ["bb"])
        #expect(rig.pushes.last { $0.push.event == .update }?.push.token == "cc")
        #expect(Self.starts(rig, at: "aa") == 2)
    }

    @Test func `a card whose token goes to another device keeps what it has spent`() {
        var rig = CardLifeTests.running("", user: "u42")
        rig.device("phone-2", user: "u42")
        rig.token("start:Runner", "aa", "phone-2")
        for lap in 1...4 {
            rig.update(lap: lap, .high, until: Double(lap) * 3)
        }
        rig.command(.update, #"{"state":{"lap":5},"alert":{"title":"once"}}"#)
        rig.advance(to: 20)
        rig.token("activity:cat", "bb", "phone-2")
        for lap in 6...9 {
            rig.update(lap: lap, .high, until: Double(lap) * 4)
        }
        let alerts = rig.pushes.compactMap { Rig.aps($0.push)?["alert"]?["title"]?.string }
        #expect(alerts.count { $0 == "once" } == 1, "\(alerts)")
        let high = rig.pushes.count { $0.push.priority == 10 && $0.push.event == .update }
        #expect(high <= 4, "\(rig.line())")
    }

    @Test func `a deletion brings no fresh budget for starts, over a crash either`() {
        var rig = Rig()
        for round in 0..<3 {
            rig.device("phone", .lab)
            rig.token("start:Runner", "aa")
            for number in 1...10 {
                Self.start(&rig, "cat-\(round)-\(number)", #"{"device":"phone"}"#)
            }
            rig.advance(to: Double(round + 1) * 60)
            #expect(Self.starts(rig, at: "aa") == 10, "round \(round)")
            rig.tell(.delete)
            #expect(rig.crash(recoverAt: Double(round + 1) * 60 + 1) == [])
        }
        // Under another token of the same device too.
        rig.device("phone", .lab)
        rig.token("start:Runner", "cc")
        Self.start(&rig, "dog", #"{"device":"phone"}"#)
        rig.advance(to: 300)
        #expect(Self.starts(rig, at: "cc") == 0)
        rig.advance(to: 20_000)
        #expect(Self.starts(rig, at: "cc") > 0, "the budget fills as ever")
    }

    /// The device goes, and comes back with what it had.
    private static func goAndComeBack(_ rig: inout Rig) {
        rig.tell(.delete)
        rig.device("phone", .standard)
        rig.token("start:Runner", "aa")
        rig.token("activity:cat", "bb")
        rig.token("widget", "ee")
    }

    @Test(arguments: [false, true])
    func `a deletion brings no fresh budget for updates, over a crash either`(crashes: Bool) {
        var rig = Rig.running(.standard)
        for round in 1...4 {
            for number in 1...4 {
                let urgent = #"{"state":{"lap":\#(round * 10 + number)},"urgency":"high"}"#
                rig.command(.update, urgent)
                rig.advance(to: Double(round * 20 + number * 3))
            }
            rig.tell(.delete)
            if crashes { #expect(rig.crash(recoverAt: Double(round * 20 + 15)) == []) }
            rig.advance(to: Double(round * 20 + 16))
            Self.goAndComeBack(&rig)
        }
        rig.advance(to: 120)
        let high = rig.pushes.count { $0.push.priority == 10 && $0.push.event == .update }
        #expect(high <= 4, "\(rig.line())")
        #expect(rig.pushes.count > 4, "priority 5 goes on")
    }

    @Test(arguments: ["phone", "phone-2"])
    func `a card whose place was taken keeps its timestamp where its device goes and comes back`(
        name: String
    ) {
        var rig = CardLifeTests.running(
            #","renew":"always""#, os: "18.1", user: "u42", until: 8 * CardLifeTests.hour - 1_200)
        rig.token("activity:cat~1.1", "cc")
        rig.command(.end, "{}")
        rig.tell(.delete)
        rig.device("phone", user: "u42", os: "18.1")
        // Its end goes once more after the crash, a bit ahead of the clock.
        rig.verdict = { _ in nil }
        rig.token("activity:cat", "dd")
        rig.verdict = { _ in .accepted }
        #expect(rig.crash(recoverAt: 8 * CardLifeTests.hour - 1_100) == [])
        rig.token("start:Runner", "aa")
        rig.tell(.delete)
        rig.device(name, user: "u42", os: "18.1")
        rig.token("start:Runner", "aa", name)
        rig.token("activity:cat", "ee", name)
        let ends = rig.pushes.map(\.push).filter { $0.event == .end && $0.token != "cc" }
        #expect(ends.map(\.token) == ["bb", "dd", "dd", "ee"])
        let own = ends.compactMap { Rig.aps($0)?["timestamp"]?.integer }
        #expect(own == own.sorted(), "\(own)")
    }

    @Test func `a deletion brings no fresh budget for widgets`() {
        var rig = Rig()
        rig.device("phone", .standard)
        rig.token("widget", "ee")
        for round in 1...3 {
            rig.reload(#"{"device":"phone"}"#)
            rig.advance(to: Double(round * 10))
            Self.goAndComeBack(&rig)
        }
        #expect(rig.pushes.count == 1)
    }

    @Test func `a token that goes to another device takes its budget and its cards along`() throws {
        var rig = Rig()
        rig.device("one", .lab, user: "u42")
        rig.device("two", .lab, user: "u42")
        rig.token("start:Runner", "aa", "one")
        for number in 1...10 { Self.start(&rig, "cat-\(number)", #"{"user":"u42"}"#) }
        rig.advance(to: 60)
        #expect(Self.starts(rig, at: "aa") == 10)
        try Self.put(&rig, "aa", "two", by: Self.own())
        #expect(rig.lastRefusal == nil)
        Self.start(&rig, "dog", #"{"user":"u42"}"#)
        rig.advance(to: 120)
        #expect(Self.starts(rig, at: "aa") == 10)
        #expect(rig.crash(recoverAt: 121) == [])
        rig.advance(to: 180)
        #expect(Self.starts(rig, at: "aa") == 10)
        let names = { (id: String) in
            rig.core.deviceView(DeviceKey(tenant: Rig.tenant, id: Identifier(id)!), now: rig.now)?
                .tokens.map(\.name)
        }
        #expect(names("one") == [])
        #expect(names("two") == ["start:Runner"])
    }

    @Test(arguments: [nil, "u7"])
    func `a device of another user, or of none, does not take a token`(user: String?) throws {
        var rig = Rig()
        rig.device("victim", .lab, user: user == nil ? nil : "u42")
        rig.token("start:Runner", "aa", "victim")
        rig.device("mallory", .lab, user: user)
        try Self.put(&rig, "aa", "mallory", by: Self.own(user))
        #expect(rig.lastRefusal == .tokenInUse)
        try Self.put(&rig, "aa", "mallory", by: Self.own(user), name: "widget")
        #expect(rig.lastRefusal == .tokenInUse)
        rig.tell(
            .putTokens(try TokenSet(reading: Rig.json(#"{"tokens":{"widget":{"token":"aa"}}}"#))),
            "mallory", by: Self.own(user))
        #expect(rig.lastRefusal == .tokenInUse)
        // An operator's word counts, and what is deleted is free.
        try Self.put(&rig, "aa", "mallory", by: .operate)
        rig.tell(.delete, "mallory")
        try Self.put(&rig, "aa", "victim", by: Self.own(user == nil ? nil : "u42"))
        #expect(rig.lastStored?.kind == .created)
    }

    @Test func `an older registration takes no token from a newer one`() throws {
        var rig = Rig()
        rig.device("one", .lab, user: "u42")
        rig.device("two", .lab, user: "u42")
        rig.advance(to: 100)
        rig.token("start:Runner", "aa", "one")
        let old = try TokenRegistration(
            reading: Rig.json(#"{"token":"aa","observed_at":"2023-11-14T22:13:30Z"}"#))
        rig.tell(.putToken(try #require(TokenName("start:Runner")), old), "two", by: Self.own())
        #expect(rig.lastStored?.kind == .outdated)
    }

    @Test func `an erased device leaves nothing behind`() {
        var rig = Rig.phone(.lab)
        Self.start(&rig, "cat", #"{"device":"phone"}"#)
        rig.command(.end, "{}")
        rig.advance(to: 60)
        let key = DeviceKey(tenant: Rig.tenant, id: Identifier("phone")!)
        rig.step(.erase(.device(key), Ticket(9_000)))
        #expect(
            rig.recovery().records.allSatisfy { $0.space != .startHistory && $0.space != .device })
    }
}
