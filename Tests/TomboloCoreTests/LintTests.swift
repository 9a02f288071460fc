import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

@Suite struct LintTests {
    private func codes(_ rig: borrowing Rig) -> [Lint.Code] {
        rig.lastAccepted?.lint.map(\.code) ?? []
    }

    @Test func `a start without an alert gets a lint if it is pushed, and only then`() {
        var rig = Rig()
        rig.device()
        rig.token("start:T", "aa")
        rig.command(.start, #"{"type":"T","state":{},"audience":{"device":"phone"}}"#)
        #expect(codes(rig) == [.startWithoutAlert])
        rig.command(.start, #"{"type":"T","state":{}}"#, id: "alone")
        #expect(codes(rig) == [.audienceMissing])
        rig.channel("news", "AAAA")
        rig.command(.start, #"{"type":"T","state":{},"audience":{"channel":"news"}}"#, id: "news")
        #expect(!codes(rig).contains(.startWithoutAlert), "no start goes to a channel")
        rig.command(
            .start,
            #"{"type":"T","state":{},"audience":{"device":"phone"},"alert":{"title":"Go"}}"#,
            id: "loud")
        #expect(codes(rig) == [])
    }

    @Test func `an app that opted out of ids gets a lint, and so does an old start token`() {
        var rig = Rig()
        rig.type(#"{"id_at":null}"#)
        rig.device()
        rig.token("start:Runner", "aa")
        rig.advance(to: 31 * 86_400)
        rig.command(
            .start,
            #"{"type":"Runner","state":{},"audience":{"device":"phone"},"alert":{"title":"a"}}"#)
        #expect(codes(rig) == [.activityIDUnknown, .startTokenOld])
    }

    @Test func `a start token of before the phone's system is doubted until a card begins by it`() {
        func start(_ id: String, in rig: inout Rig) -> [Lint.Code] {
            rig.advance(to: Double((rig.now - Rig.epoch).nanoseconds / 1_000_000_000 + 60))
            rig.command(
                .start,
                #"{"type":"T","state":{},"audience":{"device":"phone"},"alert":{"title":"a"}}"#,
                id: id)
            return codes(rig)
        }
        var rig = Rig()
        rig.device()
        rig.token("start:T", "aa")
        // Of a device that said nothing of its system before, no change is known.
        rig.device(os: "26.5")
        #expect(start("a", in: &rig) == [])
        rig.advance(to: 90)
        rig.device(os: "27.0")
        rig.token("start:T", "aa")
        #expect(start("b", in: &rig) == [.startTokenOld])
        // The card of before tells nothing.
        rig.token("activity:a", "bb")
        #expect(rig.crash(recoverAt: 300).isEmpty)
        #expect(start("c", in: &rig) == [.startTokenOld])
        rig.token("activity:c", "cc")
        #expect(start("d", in: &rig) == [])
        rig.device(os: "27.1")
        rig.token("start:T", "dd")
        #expect(start("e", in: &rig) == [], "the token is newer")
    }

    @Test(arguments: [
        (#"{"state":{"endDate":1790000000}}"#, [Lint.Code.dateInAnotherEpoch]),
        (#"{"state":{"ends_at":"2026-11-20T09:03:00Z"}}"#, [.dateInAnotherEpoch]),
        (#"{"state":{"endDate":811692800}}"#, []),
        (#"{"state":{"legs":[{"eta":1790000000000}]}}"#, [.dateInAnotherEpoch]),
        (#"{"state":{"e":1.79e9}}"#, [.dateInAnotherEpoch]),
        (#"{"state":{"e":179E7}}"#, [.dateInAnotherEpoch]),
        (#"{"state":{"ends_at":"\u0032026-11-20T09:03:00Z"}}"#, [.dateInAnotherEpoch]),
        (#"{"state":{"count":1390000000,"text":"at 2026-11-20T09:03:00Z"}}"#, []),
    ])
    func `a number that looks like a date of another epoch gets a lint`(
        body: String, wanted: [Lint.Code]
    ) {
        var rig = Rig.running()
        rig.command(.update, body)
        #expect(codes(rig) == wanted)
    }

    @Test func `a member that the type lacks gets a lint with the nearest name`() {
        var rig = Rig()
        rig.type(#"{"state":{"properties":{"lap":{"type":"integer"}}}}"#)
        rig.runningActivity()
        rig.command(.update, #"{"state":{"lab":2}}"#)
        #expect(codes(rig) == [.stateUnknownMember])
        #expect(rig.lastAccepted?.lint.first?.pointer == "/state/lab")
        #expect(rig.lastAccepted?.lint.first?.message.contains("\"lap\"?") == true)
    }

    @Test func `an update that nobody sees gets a lint, and so does one near the eight hours`() {
        var rig = Rig.running(until: 7 * 3_600 + 1)
        rig.update(lap: 1)
        #expect(codes(rig) == [.activityNearItsEnd])
        let report = try? PhoneReport(  // a test's own text
            reading: Rig.json(#"{"phase":"dismissed","by":"user"}"#))
        let reference = ActivityReference(id: Identifier("cat")!, incarnation: 1)
        report.map { rig.tell(.report(reference, $0)) }
        rig.update(lap: 2)
        #expect(codes(rig).first == .updateAfterEnd)
    }

    @Test func `a renewed activity gets no lint about its eight hours`() {
        var rig = Rig()
        rig.device()
        rig.command(
            .start,
            """
            {"type":"Runner","state":{},"audience":{"device":"phone"},"renew":"always",
            "start_wait":"12h"}
            """)
        rig.advance(to: 7 * 3_600 + 1)
        rig.update(lap: 1)
        #expect(codes(rig) == [])
    }

    @Test(arguments: [
        (#"{"state":{"lap":9}}"#, [Lint.Code.clipCoversUpdate]),
        (#"{"state":{"lap":null}}"#, [.clipCoversUpdate]),
        (#"{"replace":{"lap":9}}"#, [.clipCoversUpdate]),
        (#"{"state":{"other":9}}"#, []), (#"{"replace":{"other":9}}"#, []),
        (#"{"relevance":1}"#, []),
    ])
    func `a change at a place where a clip plays gets a lint and is not shown`(
        body: String, wanted: [Lint.Code]
    ) {
        var rig = Rig.running(.lab, until: 1)
        rig.command(
            .play, #"{"flipbook":{"path":"/lap","frames":[1,2],"every":"10s","loop":"forever"}}"#)
        rig.advance(to: 2)
        rig.command(.update, body)
        #expect(codes(rig) == wanted)
        guard !wanted.isEmpty, body.contains("9") else { return }
        rig.advance(to: 12)
        rig.command(.stop, "{}")
        rig.advance(to: 20)
        #expect(!rig.line().contains("9"), "not while it plays, and not afterwards")
        rig.command(.update, body)
        #expect(codes(rig) == [])
        rig.advance(to: 30)
        #expect(rig.line().contains("9"))
    }

    @Test func `a change after a clip's last frame gets no lint`() {
        var rig = Rig.running(.lab)
        rig.command(.play, #"{"flipbook":{"path":"/lap","frames":[1,2],"every":"1s","loop":1}}"#)
        rig.advance(to: 10)
        rig.update(lap: 9)
        #expect(codes(rig) == [])
    }

    @Test(arguments: [
        (#""audience":{"channel":"news"}"#, true),
        (#""audience":{"device":"phone","start":"channel"}"#, true),
        (#""audience":{"device":"phone","start":"auto"}"#, true),
        (#""audience":{"device":"phone"}"#, false),
        (#""audience":{"device":"phone","start":"push"}"#, false),
    ])
    func `presence on a channel gets a lint if the start asks for it`(
        audience: String, isTold: Bool
    ) throws {
        for frames in ["background", "always"] {
            var rig = Rig()
            rig.channel("news", "AAAA")
            rig.device()
            rig.token("start:T", "aa")
            let rest = #""state":{},"alert":{"title":"Go"},\#(audience)"#
            let command = #"{"type":"T",\#(rest),"show_when":{"frames":"\#(frames)"}}"#
            rig.command(.start, command)
            #expect(codes(rig) == (isTold ? [.presenceOnChannel] : []))
            rig.command(.end, "{}")
            rig.command(.start, #"{"type":"T",\#(rest)}"#, id: "plain")
            #expect(rig.lastRefusal == nil)
            #expect(codes(rig) == [], "nothing was said of presence")
        }
    }

    @Test(arguments: [#""urgency":"high""#, #""alert":{"title":"a"}"#])
    func `only a push at priority 5 for a spent budget gets a lint`(
        words: String
    ) throws {
        var rig = Rig.running()
        var priorities: Set<UInt8> = []
        for lap in 1...20 {
            rig.advance(to: Double(lap * 61))
            rig.command(.update, #"{"state":{"lap":\#(lap)},\#(words)}"#)
            let warned = codes(rig) == [.priorityBeyondBudget]
            rig.advance(to: Double(lap * 61 + 30))
            let push = try #require(rig.pushes.last?.push)
            #expect(Rig.state(push) == #"{"lap":\#(lap)}"#)
            #expect(warned == (push.priority == 5), "lap \(lap)")
            priorities.insert(push.priority)
        }
        #expect(priorities == [5, 10])
    }

    @Test func `an older state version has a lint`() {
        var rig = Rig.running()
        for (number, wanted) in [(5, []), (4, [Lint.Code.stateVersionOlder]), (5, []), (6, [])] {
            rig.command(.update, #"{"state":{"lap":1},"state_version":\#(number)}"#)
            #expect(codes(rig) == wanted, "\(number)")
        }
    }

    @Test(arguments: [
        (#"{"dismiss":"after 5h"}"#, [Lint.Code.dismissalDateCut]),
        (#"{"dismiss":"2020-01-01T00:00:00Z"}"#, [.dismissalDateNotInFuture]),
        (#"{"dismiss":"after 4h"}"#, []), (#"{"dismiss":"now"}"#, []),
    ])
    func `a dismissal that the system cuts gets a lint`(body: String, wanted: [Lint.Code]) {
        var rig = Rig.running()
        rig.command(.end, body)
        #expect(codes(rig) == wanted)
    }

    @Test func `a device without its environment gets a lint with the assumed one`() throws {
        for (fields, wanted) in [
            ("{}", [Lint.Code.environmentUnstated]), (#"{"environment":"sandbox"}"#, []),
        ] {
            var rig = Rig()
            rig.tell(.register(try DeviceRegistration(reading: Rig.json(fields))), "phone")
            #expect(rig.lastStored?.lint.map(\.code) == wanted)
        }
    }

    @Test func `a channel that no device can hear gets a lint`() throws {
        var rig = Rig {
            let app = $0.apps[0]
            $0.apps.append(
                .init(tenant: app.tenant, id: app.id, environment: .production, allowsLab: true))
        }
        rig.channel("news", "AAAA")
        let start =
            #"{"type":"T","app":"com.example.app","state":{},"audience":{"channel":"news"},"#
            + #""alert":{"title":"Go"}}"#
        rig.command(.start, start)
        #expect(codes(rig) == [])
        rig.command(.end, "{}")
        let fields = #"{"app":"com.example.app","environment":"production"}"#
        rig.tell(.register(try DeviceRegistration(reading: Rig.json(fields))), "phone")
        rig.command(.start, start, id: "other")
        #expect(codes(rig) == [.channelEnvironment])
    }

    @Test func `pushes that wait for Apple get a lint`() {
        var rig = Rig.running()
        rig.verdict = { _ in .refusal(403, "InvalidProviderToken", .providerToken) }
        rig.advance(to: 30)
        rig.update(lap: 1)
        rig.update(lap: 2)
        #expect(codes(rig) == [.upstreamClosed])
    }
}

@Suite struct DryRunTests {
    @Test func `a dry start tells payload, route and lints, and stores nothing`() throws {
        var rig = Rig.phone(.frequent, os: "26.1")
        let start = #"{"type":"Runner","state":{"a":1},"audience":{"devices":["phone","other"]}}"#
        let run = try rig.core.dryRun(try Command(.start, start), now: rig.now)
        #expect(run.routes.map(\.route) == ["push_to_start"])
        #expect(run.routes.first?.grant.budgetClass == .frequent)
        #expect(run.lint.map(\.code) == [.deviceNotRegistered, .startWithoutAlert])
        #expect(run.topic == "com.example.app.push-type.liveactivity")
        rig.command(.start, start)
        // The real push has an alert of its own instant, and is else the same.
        #expect(rig.pushes.last?.push.payload == run.payload)
        #expect(rig.lastAccepted?.version == run.version)
    }

    @Test func `a dry change tells the route that the card has now`() throws {
        var rig = Rig()
        rig.makesChannels = true
        rig.device("old", os: "17.4")
        rig.device("new", os: "26.1")
        rig.device("away")
        rig.token("start:Runner", "aa", "old")
        rig.token("start:Runner", "cc", "new")
        let audience = #"{"devices":["old","new","away"],"start":"channel"}"#
        rig.command(.start, #"{"type":"Runner","audience":\#(audience),"state":{"n":0}}"#)
        rig.advance(to: 5)
        rig.token("activity:cat", "bb", "old")
        let run = try rig.core.dryRun(try Command(.update, #"{"state":{"n":1}}"#), now: rig.now)
        let shown = try #require(rig.view()?.destinations)
        #expect(run.devices == shown.count)
        #expect(run.routes.map(\.device) == shown.map(\.recipient.name))
        #expect(run.routes.map(\.route) == shown.map(\.route))
        #expect(Set(run.routes.map(\.route)) == ["update_token", "channel", nil])
    }

    @Test(arguments: [
        #"{"type":"Runner","audience":{"channel":"news"},"state":{"n":0},"relevance":1}"#,
        #"{"type":"Runner","audience":{"device":"new","start":"auto"},"state":{"n":0}}"#,
        #"{"type":"Runner","audience":{"device":"new"},"state":{"n":0},"stale_after":"10m"}"#,
    ])
    func `a dry start has the payload of the real one, with channels too`(
        start: String
    ) throws {
        var rig = Rig()
        rig.makesChannels = true
        rig.channel("news", "AAAA")
        rig.device("new", .lab, os: "26.1")
        rig.token("start:Runner", "aa", "new")
        // The first one fills the pool.
        rig.command(
            .start, #"{"type":"Runner","audience":{"device":"new","start":"channel"},"state":{}}"#,
            id: "first")
        rig.advance(to: 60)
        let before = rig.pushes.count
        let run = try rig.core.dryRun(try Command(.start, start), now: rig.now)
        rig.command(.start, start)
        try #require(rig.pushes.count > before)
        let real = rig.pushes[before].push.payload
        #expect(
            String(decoding: run.payload, as: UTF8.self) == String(decoding: real, as: UTF8.self))
    }

    @Test func `a dry update is refused as the real one would be`() throws {
        var rig = Rig()
        rig.type(#"{"state":{"required":["lap"]}}"#)
        rig.runningActivity()
        let before = rig.core.lastSeq
        #expect {
            try rig.core.dryRun(try Command(.update, #"{"state":{"lap":null}}"#), now: rig.now)
        } throws: { ($0 as? Refusal)?.code == .stateInvalid }
        let run = try rig.core.dryRun(try Command(.update, #"{"state":{"lap":1}}"#), now: rig.now)
        #expect(run.version == 2 && run.changes)
        #expect(run.routes.map(\.route) == ["update_token"])
        #expect(JSON(unchecked: run.payload).document.root["aps"]?["event"]?.string == "update")
        #expect(rig.view()?.version == 1 && rig.core.lastSeq == before)
        #expect(throws: Refusal.self) {
            try rig.core.dryRun(try Command(.end, "{}", id: "nobody"), now: rig.now)
        }
    }

    @Test func `a dry clip tells its plan`() throws {
        let rig = Rig.running()
        let run = try rig.core.dryRun(
            try Command(
                .play,
                #"{"flipbook":{"path":"/lap","frames":[1,2],"every":"100ms","loop":"forever"}}"#),
            now: rig.now)
        #expect(run.plan?.askedFramesPerSecond == 10)
        #expect(run.plan.map { $0.grantedFramesPerSecond < 0.1 } == true)
        #expect(run.lint.map(\.code) == [.clipSlowed, .clipForever])
        #expect(rig.view()?.clip == nil)
    }

    @Test func `an end for an ended activity changes nothing`() throws {
        var rig = Rig.running()
        rig.command(.end, "{}")
        let run = try rig.core.dryRun(try Command(.end, "{}"), now: rig.now)
        #expect(!run.changes)
    }
}
