import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// A start that no phone can show is taken, and says so.
@Suite struct AudienceLintTests {
    private static func start(
        _ audience: String, type: String = "Runner", app: String? = nil, in rig: inout Rig
    ) -> [Lint] {
        let app = app.map { ",\"app\":\"\($0)\"" } ?? ""
        let members = audience.isEmpty ? "" : ",\"audience\":\(audience)"
        rig.command(
            .start,
            "{\"type\":\"\(type)\"\(app)\(members),\"state\":{},\"alert\":{\"title\":\"a\"}}")
        return rig.lastAccepted?.lint ?? []
    }

    /// A phone of user `u42` that can start a Runner.
    private static func rig(_ change: (inout CoreConfiguration) -> Void = { _ in }) -> Rig {
        var rig = Rig(change)
        rig.device("phone", .standard, user: "u42")
        rig.token("start:Runner", "aa")
        return rig
    }

    @Test(arguments: [
        (#"{"device":"phone"}"#, [Lint.Code]()), (#"{"user":"u42"}"#, []),
        (#"{"devices":["phone"]}"#, []), ("", [.audienceMissing]),
        (#"{"device":"phnoe"}"#, [.deviceNotRegistered]),
        (#"{"devices":["phone","tablet"]}"#, [.deviceNotRegistered]),
        (#"{"user":"u43"}"#, [.userWithoutDevice]),
    ])
    func `the answer names who cannot see it`(audience: String, codes: [Lint.Code]) {
        var rig = Self.rig()
        let lints = Self.start(audience, in: &rig)
        #expect(lints.map(\.code) == codes)
        for name in ["phnoe", "tablet", "u43"] where audience.contains(name) {
            #expect(lints.first?.message.contains("\"\(name)\"") == true)
        }
    }

    @Test func `of many devices the strangers are counted, and the first is named`() {
        var rig = Self.rig()
        let lints = Self.start(#"{"devices":["a","phone","b"]}"#, in: &rig)
        #expect(lints.count == 1)
        #expect(lints.first?.message.hasPrefix("2 of 3 devices, such as \"a\", are") == true)
    }

    @Test func `a type that nobody can start gets a lint, with the nearest name`() {
        var rig = Self.rig()
        let lints = Self.start(#"{"device":"phone"}"#, type: "Runer", in: &rig)
        #expect(lints.map(\.code) == [.typeNotRegistered])
        rig.command(.end, "{}")
        rig.type(#"{"state":{}}"#)
        var other = Self.rig()
        other.type(#"{"state":{}}"#)
        let meant = Self.start(#"{"device":"phone"}"#, type: "Runer", in: &other)
        #expect(meant.first?.message.hasSuffix("did you mean \"Runner\"?") == true, "\(meant)")
        var right = Self.rig()
        right.type(#"{"state":{}}"#)
        #expect(Self.start(#"{"device":"phone"}"#, in: &right) == [])
    }

    @Test func `a device of another app gets a lint, and so does a relay without apps`() {
        var rig = Rig {
            var other = $0.apps[0]
            other.id = "com.example.other"
            $0.apps.append(other)
        }
        let fields = #"{"app":"com.example.other","environment":"sandbox"}"#
        guard let registration = try? DeviceRegistration(reading: Rig.json(fields)) else {  // below
            Issue.record("a test's own text")
            return
        }
        rig.tell(.register(registration))
        rig.token("start:Runner", "aa")
        let lints = Self.start(#"{"device":"phone"}"#, app: "com.example.app", in: &rig)
        #expect(lints.map(\.code) == [.deviceNotRegistered])
        #expect(lints.first?.message.contains("com.example.other") == true)

        var bare = Rig { $0.apps = [] }
        #expect(Self.start(#"{"device":"phone"}"#, in: &bare).map(\.code) == [.appNotConfigured])
        bare.command(.start, #"{"type":"T","app":"com.example.app","state":{}}"#, id: "dog")
        #expect(bare.lastRefusal == .unknownApp)
    }

    /// The card is swiped away: nothing reaches it any more, and nothing is said to.
    @Test(arguments: [EventKind.update, .end])
    func `a change of a card that is gone is sent to nobody`(kind: EventKind) {
        var rig = Self.rig()
        _ = Self.start(#"{"device":"phone"}"#, in: &rig)
        rig.token("activity:cat", "bb")
        rig.report("cat", #"{"phase":"dismissed","by":"user"}"#)
        rig.command(kind, #"{"state":{"lap":1}}"#)
        let accepted = rig.lastAccepted
        #expect(accepted?.destinations == DestinationCounts(skipped: 1))
        #expect(accepted?.decision == .skipped(.noRoute))
    }

    @Test func `a card that is there, or waits, is counted as before`() {
        var rig = Self.rig()
        _ = Self.start(#"{"device":"phone"}"#, in: &rig)
        // Its place in the budget is written down first.
        #expect(rig.lastAccepted?.destinations == DestinationCounts(sending: 1))
        #expect(rig.lastAccepted?.decision == .sending)
        rig.update(lap: 1)
        #expect(rig.lastAccepted?.destinations == DestinationCounts(deferred: 1))
        rig.token("activity:cat", "bb")
        rig.advance(to: 60)
        rig.update(lap: 2)
        #expect(rig.lastAccepted?.destinations == DestinationCounts(sending: 1))
        // The phone shows that state already: nothing is sent.
        rig.update(lap: 2)
        #expect(rig.lastAccepted?.destinations == DestinationCounts(skipped: 1))
        #expect(rig.lastAccepted?.decision == .skipped(.unchanged))
    }
}
