import CoreRig
import Testing
import TomboloCore
import TomboloSimulator

extension FailureRow {
    private static func timed(
        _ what: String, _ code: Lint.Code, _ reason: IgnoredPush.Reason, at time: String
    ) -> FailureRow {
        let aps = "\"timestamp\":\(time),\"event\":\"update\",\"content-state\":{\"image\":\"b\"}"
        return .init(
            what, .lint(code), .ignored(reason),
            warn: { PushLint.codes(aps).map { .lint($0) } },
            endure: { PhoneUnderFailure.silences { $0.change(aps) } })
    }

    static let ofLives: [FailureRow] = [
        timed(
            "timestamp older than shown", .timestampInThePast, .timestampOlderThanShown,
            at: "\(PushLint.now - 100)"),
        timed(
            "timestamp in milliseconds", .timestampInMilliseconds, .timestampInMilliseconds,
            at: "\(PushLint.now)000"),
        timed(
            "timestamp more than 8 h ahead", .timestampTooFarAhead, .timestampTooFarAhead,
            at: "\(PushLint.now + 9 * 3_600)"),
        .init(
            "timestamp in the past", .lint(.timestampInThePast), .ignored(.timestampInThePast),
            warn: {
                PushLint.codes(
                    "\"timestamp\":\(PushLint.now - 61),\"event\":\"update\","
                        + "\"content-state\":{}"
                ).map { .lint($0) }
            },
            endure: {
                PhoneUnderFailure.silences {
                    $0.pass(700)
                    $0.update(time: PushLint.now + 600)
                }
            }),
        .init(
            "stale date not a future whole second", .lint(.staleDateNotInFuture),
            .ignored(.staleDateNotInFuture),
            warn: {
                PushLint.codes(#""event":"update","content-state":{},"stale-date":1700000000"#)
                    .map { .lint($0) }
            },
            endure: {
                PhoneUnderFailure.silences {
                    $0.change(
                        #""event":"update","content-state":{"image":"b"},"stale-date":1700000000"#)
                }
            }),
        .init(
            "dismissal date not a future whole second", .lint(.dismissalDateNotInFuture),
            .ignored(.dateNotWholeSeconds),
            warn: {
                // Past, at the door; no whole second, in somebody's push.
                try Relaying.warnings(.end, #"{"dismiss":"2020-01-01T00:00:00Z"}"#)
                    .filter { _ in
                        PushLint.codes(#""event":"end","dismissal-date":1800000600.5"#)
                            == [.dismissalDateNotInFuture]
                    }
            },
            endure: {
                PhoneUnderFailure.silences {
                    $0.change(#""event":"end","dismissal-date":1800000600.5"#)
                }
            }),
        .init(
            "activity near 8 h without renewal", .lint(.activityNearItsEnd),
            .answered("ExpiredToken"),
            warn: {
                try Relaying.warnings(
                    .update, #"{"state":{"lap":1}}"#,
                    after: { $0.advance(to: 7 * 3_600 + 1) })
            },
            endure: {
                var phone = PhoneUnderFailure()
                phone.pass(8 * 3_600 + 1)
                return phone.end.map { GatewayUnderFailure.after($0) } ?? []
            }),
        .init(
            "update after end", .refused(.activityEnded), .ignored(.activityEnded),
            warn: {
                var rig = Rig()
                rig.runningActivity()
                rig.command(.end, "{}")
                rig.command(.update, #"{"state":{"lap":1}}"#)
                return rig.lastRefusal.map { [.refused($0)] } ?? []
            },
            endure: {
                PhoneUnderFailure.silences {
                    $0.change(#""event":"end""#)
                    $0.update()
                }
            }),
        .init(
            "update after dismissal", .lint(.updateAfterEnd), .answered("Unregistered"),
            warn: {
                try Relaying.warnings(
                    .update, #"{"state":{"lap":1}}"#,
                    after: { $0.report("cat", #"{"phase":"dismissed","by":"user"}"#) })
            },
            endure: {
                var phone = PhoneUnderFailure()
                phone.swipeAway()
                // Until then Apple answers 200.
                phone.pass(6 * 3_600)
                return phone.end.map { GatewayUnderFailure.after($0) } ?? []
            }),
        .init(
            "priority 10 beyond the budget", .lint(.priorityBeyondBudget),
            .ignored(.heldOverBudget),
            warn: {
                let body = #"{"state":{"lap":9},"urgency":"high"}"#
                return try Relaying.warnings(
                    .update, body,
                    after: { rig in
                        for second in 1...12 {
                            rig.advance(to: Double(second * 2))
                            rig.command(.update, #"{"state":{"lap":\#(second)},"urgency":"high"}"#)
                        }
                    })
            },
            endure: {
                var phone = PhoneUnderFailure()
                for _ in 1...60 {
                    phone.change(#""event":"update","content-state":{"image":"b"}"#, priority: 10)
                }
                return phone.silences
            }),
    ]
}
