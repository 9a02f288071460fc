import CoreRig
import Testing
import TomboloAPI
import TomboloCore
import TomboloSimulator

/// One way in which a push comes to nothing while nobody is told: how it is seen coming, what a
/// phone or Apple then does, and the page that explains it.
///
/// The relay, which says it beforehand, and the simulator, which does it, share no table: only
/// these tests see both.
struct FailureRow: CustomTestStringConvertible, Sendable {
    /// What is said of it before it happens. Each has a page under `/problems/`.
    enum Warning: Hashable, Sendable {
        case lint(Lint.Code)
        /// It cannot be right in any world: the door does not take it.
        case refused(TomboloCore.Refusal.Code)

        /// The last part of the page's path.
        var slug: String {
            switch self {
            case .lint(let code): code.rawValue
            case .refused(let code): code.rawValue
            }
        }
    }

    /// What becomes of it.
    enum Silence: Hashable, Sendable {
        /// The phone drops it, or a part of it.
        case ignored(IgnoredPush.Reason)
        /// The gateway's word: the producer is not there to hear it.
        case answered(String)
        /// The phone shows something else than was meant.
        case shows(String)
    }

    let what: String
    let warning: Warning
    let silence: Silence
    /// Makes the mistake at the relay; answers what it said.
    let warn: @Sendable () throws -> [Warning]
    /// Makes the same mistake at the simulator; answers what came of it.
    let endure: @Sendable () throws -> [Silence]

    var testDescription: String { what }

    init(
        _ what: String, _ warning: Warning, _ silence: Silence,
        warn: @escaping @Sendable () throws -> [Warning],
        endure: @escaping @Sendable () throws -> [Silence]
    ) {
        (self.what, self.warning, self.silence) = (what, warning, silence)
        (self.warn, self.endure) = (warn, endure)
    }

    /// Every failure that users were promised to be warned of.
    static let promised = [
        "state does not decode into the type", "date in the wrong epoch", "start without alert",
        "payload too large", "sandbox token on production", "topic suffix missing",
        "topic suffix doubled", "priority 10 beyond the budget", "timestamp older than shown",
        "timestamp in the past", "timestamp in milliseconds", "timestamp more than 8 h ahead",
        "stale date not a future whole second", "dismissal date not a future whole second",
        "activity near 8 h without renewal", "start token of a terminated app",
        "update after end", "update after dismissal", "channel of the other environment",
        "expiration on a no-storage channel", "provider token wrong", "provider token stale",
        "provider token renewed too often", "new required field against older app versions",
        "flip-book that cannot fit", "bundle the type does not declare",
        "apns-expiration: 0 on a start", "presence on a channel",
        "an app that cannot report its activity's id",
    ]

    static let rows = ofStates + ofStarts + ofLives + ofGateway
}

@Suite struct FailureTableTests {
    @Test func `every failure that was promised has a row`() {
        #expect(FailureRow.rows.map(\.what).sorted() == FailureRow.promised.sorted())
    }

    @Test(arguments: FailureRow.rows)
    func `it is said beforehand, comes to pass in silence, and has a page`(
        row: FailureRow
    ) throws {
        let (warned, endured) = (try row.warn(), try row.endure())
        #expect(warned.contains(row.warning), "\(warned)")
        #expect(endured.contains(row.silence), "\(endured)")
        let page =
            switch row.warning {
            case .lint(let code): LintPage.page(code).text
            case .refused(let code):
                ProblemPage.page(Problem(TomboloCore.Refusal(code, "")).code).text
            }
        #expect(page.contains(row.warning.slug) && page.contains("Fix"))
    }

    /// Lints that warn of something that Apple refuses aloud, or of what is only not as good as it
    /// could be: each with what brings it about.
    static let others: [Lint.Code: @Sendable () throws -> [Lint.Code]] = [
        .stateUnknownMember: {
            try Relaying.lints(
                type: #"{"state":{"properties":{"lap":{"type":"integer"}}}}"#,
                .update, #"{"state":{"lab":2}}"#)
        },
        .linksInSmallFamilies: {
            var rig = Rig()
            try Relaying.put(#"{"families":{"systemSmall":["/a"]}}"#, &rig)
            let body = #"{"subject":{"user":"u"},"type":"Runner","content":{},"links":["app://a"]}"#
            let request = try TimelineRequest(reading: Rig.json(body))
            rig.step(
                .timeline(.put(request, kind: Identifier("k")!), Rig.tenant, Ticket(9_001)))
            guard case .stored(let stored)? = rig.answers.last else { return [] }
            return stored.lint.map(\.code)
        },
        .alertWithoutTitle: {
            try Relaying.lints(.update, #"{"alert":{"body":"Goal"}}"#)
        },
        .alertSoundUnknown: {
            try Relaying.lints(.update, #"{"alert":{"title":"Goal","sound":"none"}}"#)
        },
        .payloadMember: { PushLint.codes(#""event":"update","sound":"default""#) },
        .typeRefusesRunning: {
            var rig = Rig()
            rig.command(.start, #"{"type":"Runner","state":{"lap":"one"}}"#)
            try Relaying.put(#"{"state":{"properties":{"lap":{"type":"integer"}}}}"#, &rig)
            guard case .stored(let stored)? = rig.answers.last else { return [] }
            return stored.lint.map(\.code)
        },
        .startWithoutAttributes: {
            PushLint.codes(#""event":"start","attributes-type":"T""#)
        },
        .payloadUnreadable: { PushLint.codes(#""event":"change""#) },
        .payloadNearLimit: { PushLint.codes(image: 4_096 - 255) },
        .escapedSlashes: { PushLint.codes(#""event":"update","content-state":{"image":"a\/b"}"#) },
        .priorityRefused: { PushLint.codes { $0.priority = "1" } },
        .timestampMissing: { PushLint.codes(#""timestamp":"now","event":"update""#) },
        .dismissalDateCut: { try Relaying.lints(.end, #"{"dismiss":"after 5h"}"#) },
        .environmentChanged: {
            var rig = Rig {
                let app = $0.apps[0]
                $0.apps.append(
                    .init(tenant: app.tenant, id: app.id, environment: .production, allowsLab: true)
                )
            }
            for environment in ["sandbox", "production"] {
                let fields = #"{"app":"com.example.app","environment":"\#(environment)"}"#
                rig.tell(.register(try DeviceRegistration(reading: Rig.json(fields))))
                if environment == "sandbox" { rig.token("widget", "aa") }
            }
            guard case .stored(let stored)? = rig.answers.last else { return [] }
            return stored.lint.map(\.code)
        },
        .memberNotUnderstood: {
            var rig = Rig()
            rig.tell(.register(try DeviceRegistration(reading: Rig.json(#"{"os":""}"#))))
            return rig.lastStored?.lint.map(\.code) ?? []
        },
        .formerKeyLives: { Lint.ofFormerKeys(1).map(\.code) },
        .tokenRefused: {
            var rig = Rig()
            rig.runningActivity()
            rig.verdict = { _ in
                .rejected(
                    status: 400, reason: "BadDeviceToken", reaches: .tokenMisplaced,
                    tokenGoneSince: nil)
            }
            rig.command(.update, #"{"state":{"lap":1},"urgency":"high"}"#)
            rig.advance(to: 20)
            rig.token("activity:cat", "bb")
            guard case .stored(let stored)? = rig.answers.last else { return [] }
            return stored.lint.map(\.code)
        },
        .channelStart: { PushLint.codes(#""event":"start""#) { $0.channel = "AAAA" } },
        .clipSlowed: {
            try Relaying.lints(
                .play,
                #"{"flipbook":{"path":"/lap","frames":[1,2],"every":"100ms","loop":"forever"}}"#)
        },
        .clipCoversUpdate: {
            let clip =
                #"{"flipbook":{"path":"/lap","frames":[1,2],"every":"10m","loop":"forever"}}"#
            return try Relaying.lints(
                .update, #"{"state":{"lap":2}}"#, after: { $0.command(.play, clip) })
        },
        .clipForever: {
            try Relaying.lints(
                .play, #"{"flipbook":{"path":"/lap","frames":[1,2],"every":"10m"}}"#)
        },
        .pauseInForce: {
            try Relaying.lints(
                .update, #"{"state":{"lap":2}}"#, after: { _ = $0.pause(#"{"all":true}"#) })
        },
        .audienceMissing: { starting("") },
        .deviceNotRegistered: { starting(#","audience":{"device":"stranger"}"#) },
        .userWithoutDevice: { starting(#","audience":{"user":"stranger"}"#) },
        .typeNotRegistered: { starting(#","audience":{"device":"phone"}"#) },
        .startNeedsNewerOS: {
            try Relaying.lints(
                .start, #"{"type":"Runner","audience":{"device":"old"},"state":{"lap":1}}"#,
                id: "dog",
                after: {
                    let old = try DeviceRegistration(reading: Rig.json(#"{"os":"16.4"}"#))
                    $0.tell(.register(old), "old")
                })
        },
        .stateVersionOlder: {
            try Relaying.lints(
                .update, #"{"state":{"lap":1},"state_version":4}"#,
                after: { $0.command(.update, #"{"state":{"lap":2},"state_version":5}"#) })
        },
        .appNotConfigured: { starting("") { $0.apps = [] } },
        .expirationRelative: { PushLint.codes { $0.expiration = "300" } },
    ]

    /// What is said of a start that no phone can show.
    private static func starting(
        _ audience: String, _ change: (inout CoreConfiguration) -> Void = { _ in }
    ) -> [Lint.Code] {
        var rig = Rig(change)
        if !rig.core.configuration.apps.isEmpty { rig.device() }
        rig.command(.start, "{\"type\":\"Misspelt\",\"state\":{}\(audience)}")
        return rig.lastAccepted?.lint.map(\.code) ?? []
    }

    @Test func `every lint is brought about here, or belongs to a row`() throws {
        let ofRows = FailureRow.rows.compactMap { row in
            if case .lint(let code) = row.warning { code } else { nil }
        }
        #expect(Set(ofRows).union(Self.others.keys) == Set(Lint.Code.allCases))
        for (code, provoke) in Self.others {
            #expect(try provoke().contains(code), "\(code)")
            #expect(LintPage.page(code).text.contains("lint \(code.rawValue)"))
        }
    }

    @Test(arguments: [(4_096 - 256, false), (4_096 - 255, true), (4_096, true), (4_097, false)])
    func `a payload is near its limit within 256 bytes of it`(bytes: Int, isNear: Bool) {
        #expect(PushLint.codes(image: bytes).contains(.payloadNearLimit) == isNear)
        #expect(PushLint.codes(image: bytes).contains(.payloadTooLarge) == (bytes > 4_096))
    }

    @Test func `only slashes that are escaped are told, and each is counted`() throws {
        #expect(PushLint.codes(#""event":"update","content-state":{"image":"a/b"}"#) == [])
        let lint = try #require(
            PushLint.lints(#""event":"update","content-state":{"image":"\/\/","b":"\/"}"#).first)
        #expect(lint.code == .escapedSlashes)
        #expect(lint.message.hasPrefix("3 slashes"))
    }
}
