import Testing
import TomboloAPI
import TomboloCore
import TomboloJSON
import TomboloSimulator

@testable import TomboloProgram

/// One push that APNs would answer with 200: what the lint says of it, and what the phone does.
///
/// Lint and phone share no table; only this test sees both.
struct SilentFailure: CustomTestStringConvertible, Sendable {
    enum Target: Sendable { case start, update }

    var what: String
    var lint: Lint.Code
    var silence: IgnoredPush.Reason
    var target = Target.update
    /// Members of `aps`; `NOW` stands for the time in seconds.
    var aps: String
    var prepare: @Sendable (inout Phone, WallInstant) -> Void = { _, _ in }

    var testDescription: String { what }

    static let state = #""content-state":{"image":"b"}"#
    static let start =
        #""event":"start","attributes-type":"RunnerWidgetAttributes","attributes":"#
        + #"{"activity_id":"cat"},"content-state":{"image":"a"}"#
    static let alert = #","alert":{"title":"Go"}"#

    static let rows: [SilentFailure] = [
        .init(
            what: "a state that does not decode", lint: .stateDoesNotDecode,
            silence: .contentStateDoesNotDecode,
            aps: #""timestamp":NOW,"event":"update","content-state":{"image":7}"#),
        .init(
            what: "a new required field", lint: .stateDoesNotDecode,
            silence: .contentStateDoesNotDecode,
            aps: #""timestamp":NOW,"event":"update","content-state":{"other":1}"#),
        .init(
            what: "a date of another epoch", lint: .dateInAnotherEpoch,
            silence: .dateInAnotherEpoch,
            aps: #""timestamp":NOW,"event":"update","content-state":{"image":"b","at":NOW}"#),
        .init(
            what: "a start without an alert", lint: .startWithoutAlert, silence: .alertMissing,
            target: .start, aps: #""timestamp":NOW,"# + start),
        .init(
            what: "a start without attributes", lint: .startWithoutAttributes,
            silence: .attributesMissing, target: .start,
            aps: #""timestamp":NOW,"event":"start","# + state + alert),
        .init(
            what: "no timestamp", lint: .timestampMissing, silence: .timestampMissing,
            aps: #""event":"update","# + state),
        .init(
            what: "a timestamp in milliseconds", lint: .timestampInMilliseconds,
            silence: .timestampInMilliseconds, aps: #""timestamp":NOW000,"event":"update","# + state
        ),
        .init(
            what: "a timestamp more than eight hours ahead", lint: .timestampTooFarAhead,
            silence: .timestampTooFarAhead,
            aps: #""timestamp":AHEAD,"event":"update","# + state),
        .init(
            what: "a timestamp of the past", lint: .timestampInThePast,
            silence: .timestampOlderThanShown,
            aps: #""timestamp":PAST,"event":"update","# + state),
        .init(
            what: "a stale date that has passed", lint: .staleDateNotInFuture,
            silence: .staleDateNotInFuture,
            aps: #""timestamp":NOW,"event":"update","stale-date":PAST,"# + state),
        .init(
            what: "a dismissal date that is no whole second", lint: .dismissalDateNotInFuture,
            silence: .dateNotWholeSeconds,
            aps: #""timestamp":NOW,"event":"end","dismissal-date":NOW.5,"# + state),
        .init(
            what: "an event that is none", lint: .payloadUnreadable, silence: .unreadable,
            aps: #""timestamp":NOW,"event":"change","# + state),
        .init(
            what: "no state", lint: .stateDoesNotDecode, silence: .contentStateMissing,
            aps: #""timestamp":NOW,"event":"update""#),
    ]
}

@Suite struct SilentFailureTests {
    private static let now: Int64 = 1_800_000_000
    private static let type = """
        {"state":{"properties":{"image":{"type":"string"},"at":{"format":"date-time"}},
        "required":["image"]}}
        """

    private func payload(_ row: SilentFailure) -> [UInt8] {
        let aps = row.aps.replacing("NOW", with: "\(Self.now)")
            .replacing("AHEAD", with: "\(Self.now + 9 * 3_600)")
            .replacing("PAST", with: "\(Self.now - 600)")
        return Array("{\"aps\":{\(aps)}}".utf8)
    }

    /// A phone with one card; answers it with its start and update token.
    private func phone() -> (Phone, start: String, update: String) {
        var configuration = PhoneConfiguration(
            name: "phone-1", bundleID: "com.example.app", startTokenSeed: [1],
            updateTokenSeed: [2])
        configuration.shapes["RunnerWidgetAttributes"] = .object([
            .init("image", .string), .init("at", .date, isRequired: false),
        ])
        let now = WallInstant(seconds: Self.now)
        var phone = Phone(configuration, at: now)
        var tokens: [String] = []
        func note(_ effects: [PhoneEffect]) {
            for case .tokenIssued(let token, let purpose) in effects {
                switch purpose {
                case .start, .update: tokens.append(token)
                case .widget, .control: break
                }
            }
        }
        note(phone.boot())
        let start = "{\"aps\":{\"timestamp\":\(Self.now),\(SilentFailure.start)"
        note(
            phone.receive(
                push(tokens[0], Array((start + SilentFailure.alert + "}}").utf8)), at: now))
        return (phone, tokens[0], tokens.count > 1 ? tokens[1] : "")
    }

    private func push(_ token: String, _ payload: [UInt8]) -> AcceptedPush {
        AcceptedPush(
            apnsID: "id", token: token, topic: .liveActivity("com.example.app"),
            type: .liveActivity, priority: 5, expiration: .absent, collapseID: nil,
            payload: payload, acceptedAt: WallInstant(seconds: Self.now))
    }

    @Test(arguments: SilentFailure.rows)
    func `what a phone drops in silence is linted, is dropped by ours, and has a page`(
        row: SilentFailure
    ) throws {
        let payload = payload(row)
        let type = try ActivityType(reading: JSON(validating: Array(Self.type.utf8)).document.root)
        let lints = PayloadLint.lints(
            payload: payload, type: type, now: Instant(seconds: Self.now))
        #expect(lints.map(\.code) == [row.lint])
        var (phone, start, update) = phone()
        try #require(phone.ignored.isEmpty)
        _ = phone.receive(
            push(row.target == .start ? start : update, payload),
            at: WallInstant(seconds: Self.now))
        #expect(phone.ignored.map(\.reason) == [row.silence])
        #expect(LintPage.page(row.lint).text.contains("lint \(row.lint.rawValue)"))
    }

    @Test func `a push that is right is not linted, and shows`() throws {
        let payload = Array(
            "{\"aps\":{\"timestamp\":\(Self.now),\"event\":\"update\",\(SilentFailure.state)}}".utf8
        )
        #expect(PayloadLint.lints(payload: payload, now: Instant(seconds: Self.now)).isEmpty)
        var (phone, _, update) = phone()
        _ = phone.receive(push(update, payload), at: WallInstant(seconds: Self.now))
        #expect(phone.ignored.isEmpty)
        #expect(phone.cards.first?.shownCount == 2)
    }

    @Test func `what the request's fields get wrong is linted`() {
        var headers = PayloadLint.Headers()
        headers.topic = "com.example.app.push-type.liveactivity.push-type.liveactivity"
        headers.priority = "1"
        headers.expiration = "300"
        let start = Array(
            "{\"aps\":{\"timestamp\":\(Self.now),\(SilentFailure.start)\(SilentFailure.alert)}}"
                .utf8)
        func codes() -> [Lint.Code] {
            PayloadLint.lints(
                payload: start, headers: headers, now: Instant(seconds: Self.now)
            ).map(\.code)
        }
        #expect(codes() == [.topicSuffix, .priorityRefused, .expirationRelative])
        headers = PayloadLint.Headers()
        headers.expiration = "0"
        #expect(codes() == [.startNotStored])
        headers.channel = "c2hhbm5lbA=="
        #expect(codes().contains(.channelStart))
        headers.expiration = "1800000600"
        #expect(codes().contains(.channelExpiration))
    }
}

/// The tool that a developer has at hand, without a relay.
@Suite struct LintCommandTests {
    @Test func `a push in a file is linted, with its own exit status`() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write(
            "push.json",
            #"{"aps":{"timestamp":1700000000000,"event":"update","content-state":{}}}"#)
        let result = try Tombolo.run("lint", file, "-o", "json")
        #expect(result.status == 7)
        #expect(result.output.contains(#""code":"timestamp-in-milliseconds","pointer":"/aps/"#))
        let members = #""type":"T","state":{"lap":1},"alert":{"title":"Lap 1"}"#
        let unseen = try directory.write("unseen.json", "{\(members)}")
        let lint = try Tombolo.run("lint", unseen, "-o", "json")
        #expect(lint.status == 7)
        #expect(lint.output.contains("audience-missing"))
        let start = try directory.write(
            "start.json", "{\(members),\"audience\":{\"device\":\"phone-1\"}}")
        let clean = try Tombolo.run("lint", start)
        #expect(clean.status == 0, "\(clean.output)")
        let type = try directory.write("type.json", #"{"state":{"required":["name"]}}"#)
        let refused = try Tombolo.run("lint", start, "--type", type)
        #expect(refused.status == 1)
        #expect(refused.errors.contains("/state/name"))
        let state = try directory.write("state.json", #"{"lap":1}"#)
        let checked = try Tombolo.run("type", "check", "T", state, "--type", type, "-o", "json")
        #expect(checked.status == 7)
        #expect(checked.output.contains(#""pointer":"/name""#))
    }
}
