import Testing

@testable import TomboloSimulator

/// Every reason for which a phone ignores a push, and what brings it about: no reason is there that
/// nothing leads to.
struct IgnoredBecause: CustomTestStringConvertible, Sendable {
    let reason: IgnoredPush.Reason
    var configure: @Sendable (inout PhoneConfiguration) -> Void = { _ in }
    let happen: @Sendable (inout PhoneBench) -> Void

    var testDescription: String { reason.rawValue }

    init(
        _ reason: IgnoredPush.Reason,
        configure: @escaping @Sendable (inout PhoneConfiguration) -> Void = { _ in },
        _ happen: @escaping @Sendable (inout PhoneBench) -> Void
    ) {
        (self.reason, self.configure, self.happen) = (reason, configure, happen)
    }

    private static func started(
        _ happen: @escaping @Sendable (inout PhoneBench) -> Void
    ) -> @Sendable (inout PhoneBench) -> Void {
        { bench in
            bench.start()
            happen(&bench)
        }
    }

    private static func seconds(_ ahead: Int64) -> String {
        "\(PhoneBench.beginning.seconds + ahead)"
    }

    static let ofChanges: [IgnoredBecause] = [
        .init(.unreadable, started { $0.push(to: $0.updateTokens[0], "{}") }),
        .init(
            .timestampMissing,
            started { $0.push(to: $0.updateTokens[0], #"{"aps":{"event":"update"}}"#) }),
        .init(.timestampNotWholeSeconds, started { $0.change(timestamp: "1800000000.5") }),
        .init(.timestampInMilliseconds, started { $0.change(timestamp: "1800000000000") }),
        .init(
            .timestampInThePast,
            started {
                $0.pass(.seconds(700))
                $0.change(timestamp: seconds(600))
            }),
        .init(.timestampTooFarAhead, started { $0.change(timestamp: seconds(9 * 3_600)) }),
        .init(.timestampOlderThanShown, started { $0.change(timestamp: seconds(-10)) }),
        .init(.contentStateMissing, started { $0.change(image: nil) }),
        .init(
            .contentStateDoesNotDecode,
            started {
                let aps = #"{"aps":{"timestamp":\#(seconds(0)),"event":"update","#
                $0.push(to: $0.updateTokens[0], aps + #""content-state":{"image":7}}}"#)
            }),
        .init(
            .updateBudgetExceeded, configure: { $0.budgetModel = .bucket },
            started { bench in for _ in 0..<100 { bench.change(priority: 10) } }),
        .init(
            .heldOverBudget,
            started { bench in for _ in 0..<15 { bench.change(priority: 10) } }),
        .init(
            .replacedOverBudget,
            started { bench in for _ in 0..<16 { bench.change(priority: 10) } }),
        .init(
            .activityEnded,
            started {
                $0.change("end")
                $0.change()
            }),
        .init(.wrongToken, started { $0.push(to: "00ff", #"{"aps":{}}"#) }),
        .init(.dateNotWholeSeconds, started { $0.change("end", extra: #","dismissal-date":1.5"#) }),
        .init(.staleDateNotInFuture, started { $0.change(extra: #","stale-date":1700000000"#) }),
        .init(
            .replacedWhileOffline,
            started {
                $0.setOnline(false)
                for image in ["b", "c"] { $0.change(image: image) }
            }),
        .init(
            .expiredWhileOffline,
            started {
                $0.setOnline(false)
                $0.push(to: $0.updateTokens[0], "{}", expiration: .immediate)
            }),
    ]

    static let ofStarts: [IgnoredBecause] = [
        .init(.alertMissing) { $0.start(alert: nil) },
        .init(.attributesMissing) {
            let aps = #"{"aps":{"timestamp":\#(seconds(0)),"event":"start","#
            $0.push(
                to: $0.startToken, aps + #""content-state":{"image":"a"},"alert":{"title":"a"}}}"#)
        },
        .init(.attributesDoNotDecode) {
            var start = #"{"aps":{"timestamp":\#(seconds(0)),"event":"start","alert":{"title":"a"}"#
            start += #","attributes-type":"RunnerWidgetAttributes","attributes":[]"#
            $0.push(to: $0.startToken, start + #","content-state":{"image":"a"}}}"#)
        },
        .init(.attributesTypeMismatch) { $0.start(type: "Other") },
        .init(.startOverBudget, configure: { $0.startBudget = .init(count: 1) }) {
            for id in ["one", "two"] { $0.start(id: id) }
        },
        .init(
            .tooManyActivities, configure: { $0.startBudget = .init(count: 2_000) }
        ) { bench in for index in 0...Phone.cardsMax { bench.start(id: "cat-\(index)") } },
        .init(.channelNeedsNewerOS, configure: { $0.os = "17.4" }) {
            $0.start(extra: #","input-push-channel":"AAAA""#)
        },
        .init(.channelUnknown) {
            $0.startsOnUnknownChannel = true
            $0.start(extra: #","input-push-channel":"AAAA""#)
        },
        .init(.activityIDUnknown) {
            var start = #"{"aps":{"timestamp":\#(seconds(0)),"event":"start","alert":{"title":"a"}"#
            start += #","attributes-type":"RunnerWidgetAttributes","attributes":{}"#
            $0.push(to: $0.startToken, start + #","content-state":{"image":"a"}}}"#)
        },
        .init(.appTerminated) {
            _ = $0.phone.setTerminated(true, at: $0.now)
            $0.start()
        },
        .init(.startTokenSilent, configure: { $0.trouble.kinds = [.startTokenSilent] }) {
            $0.start()
        },
        .init(.lowPower, configure: { $0.trouble.kinds = [.lowPower] }) { $0.start() },
        .init(
            .dateInAnotherEpoch,
            configure: {
                $0.shapes["RunnerWidgetAttributes"] = .object([
                    .init("image", .string), .init("at", .date, isRequired: false),
                ])
            },
            started {
                let aps = #"{"aps":{"timestamp":\#(seconds(0)),"event":"update","#
                $0.push(
                    to: $0.updateTokens[0],
                    aps + #""content-state":{"image":"b","at":1800000000}}}"#)
            }),
        .init(.reloadBudgetExceeded, configure: { $0.reloadBudget = .init(depth: 1, perHour: 0) }) {
            for _ in 0..<2 {
                $0.push(
                    to: $0.surfaceTokens[.widget] ?? "", #"{"aps":{"content-changed":true}}"#,
                    type: .widgets)
            }
        },
    ]
}

@Suite struct IgnoredReasonTests {
    @Test func `every reason has something that brings it about`() {
        let all = (IgnoredBecause.ofChanges + IgnoredBecause.ofStarts).map(\.reason)
        #expect(Set(all) == Set(IgnoredPush.Reason.allCases))
        #expect(all.count == IgnoredPush.Reason.allCases.count)
    }

    @Test(arguments: IgnoredBecause.ofChanges + IgnoredBecause.ofStarts)
    func `a phone's log tells why it ignored a push`(row: IgnoredBecause) {
        var bench = PhoneBench(row.configure)
        row.happen(&bench)
        #expect(bench.reasons.contains(row.reason))
    }

    @Test func `a phone has a thousand cards, and one more when one has gone`() {
        var bench = PhoneBench { $0.startBudget = .init(count: 2_000) }
        bench.start()
        for index in 1..<Phone.cardsMax { bench.start(id: "cat-\(index)") }
        #expect(bench.reasons == [] && bench.phone.cards.count == Phone.cardsMax)
        bench.start(id: "late")
        #expect(bench.reasons == [.tooManyActivities])
        bench.swipeAway()
        bench.start(id: "late")
        #expect(bench.reasons == [.tooManyActivities])
        #expect(bench.phone.cards.last?.activityID == "late")
    }
}
