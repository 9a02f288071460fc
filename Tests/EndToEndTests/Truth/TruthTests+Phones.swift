// What a phone's app says, and what follows from it for those who are asked.

extension TruthTests {
    private static let update = ["update", "cat", "-s", "lap=8"]

    static let phoneRows: [TruthRow] = [
        TruthRow(
            state: "an app gives back what it decoded",
            bring: { try $0.report() },
            ask: ("GET", "/v1/activities/cat", ""), answer: (200, #""matches":true"#),
            cli: (["why", "cat", "phone"], (0, "that it has version 1."))),
        TruthRow(
            state: "a report without a time",
            bring: { try $0.report() },
            ask: ("GET", "/v1/devices/phone/check", ""),
            answer: (200, "The app's last report came at"),
            cli: (["device", "check", "phone"], (0, "The app's last report came at"))),
        TruthRow(
            state: "Apple refused the token of a card",
            bring: { try $0.refuseCard() },
            ask: ("GET", "/v1/activities/cat", ""), answer: (200, #""phase":"unreachable""#),
            cli: (["device", "check", "phone"], (1, "Apple refused the update tokens of 1"))),
        TruthRow(
            state: "a token under ActivityKit's own id",
            ask: (
                "PUT",
                "/v1/devices/phone/tokens/activity:8C5F5C1E-0000-4000-8000-0123456789AB",
                #"{"token":"eeff"}"#
            ),
            answer: (202, "activity-id-unknown"),
            cli: (["device", "check", "phone"], (0, "The app has reported no card"))),
        TruthRow(
            state: "a report under ActivityKit's own id",
            ask: (
                "PUT", "/v1/devices/phone/activities/8C5F5C1E-0000-4000-8000-0123456789AB",
                #"{"phase":"active"}"#
            ),
            answer: (200, "activity-id-unknown"),
            cli: (["why", "cat", "phone"], (0, "cat"))),
        TruthRow(
            state: "a phone has said nothing yet", ask: ("GET", "/v1/overview", ""),
            answer: (200, #""accepted":1,"shown":0,"older":0,"silent":1"#),
            metrics: #"tombolo_cards{state="silent"} 1"#,
            cli: (["why", "cat", "phone"], (0, "cat"))),
        TruthRow(
            state: "a phone says what it has",
            bring: { try $0.reportReceived(1) },
            ask: ("GET", "/v1/overview", ""), answer: (200, #""accepted":1,"shown":1"#),
            metrics: #"tombolo_cards{state="shown"} 1"#,
            cli: (["device", "check", "phone"], (0, "The app's last report came at"))),
        TruthRow(
            state: "an app that reports no drawing",
            bring: { try $0.reportReceived(1) },
            ask: ("GET", "/v1/activities/cat/explain?version=1", ""), answer: (200, "phone"),
            never: "drew",
            cli: (["why", "cat", "phone"], (0, "that it has version 1."))),
        TruthRow(
            state: "a phone shows an older version than Apple took",
            bring: {
                try $0.change()
                // A push has ten seconds to arrive.
                _ = try Shell.run("sleep", "11")
                try $0.reportReceived(1)
            },
            ask: ("GET", "/v1/overview", ""), answer: (200, #""code":"not_shown""#),
            metrics: #"tombolo_cards{state="older"} 1"#,
            cli: (["why", "cat", "phone"], (0, "version 1"))),
        TruthRow(
            state: "a phone that reported is silent for five minutes", hasOwnClock: true,
            isTimePassing: true,
            bring: {
                try $0.reportReceived(1)
                try $0.change()
                try $0.pass("+6m")
            },
            ask: ("GET", "/v1/overview", ""), answer: (200, #""code":"silent""#),
            metrics: #"tombolo_cards{state="silent"} 1"#,
            cli: (["why", "cat", "phone"], (0, "cat"))),
        TruthRow(
            state: "a phone that has the version is silent since", hasOwnClock: true,
            isTimePassing: true,
            bring: {
                try $0.reportReceived(1)
                try $0.pass("+6m")
            },
            ask: ("GET", "/v1/activities/cat/explain?version=1", ""),
            answer: (200, "that it has version 1."), never: "offline",
            cli: (["why", "cat", "phone"], (0, "that it has version 1."))),
        TruthRow(
            state: "the producer is silent", hasOwnClock: true, isTimePassing: true,
            bring: {
                try $0.change(#"{"state":{"lap":1},"stale_after":"1m"}"#)
                try $0.pass("+3m")
            },
            ask: ("GET", "/v1/overview", ""), answer: (200, #""code":"producer_silent""#),
            cli: (["why", "cat", "phone"], (0, "The producer is silent since"))),
        TruthRow(
            state: "a card never began, for the phone's budget of starts",
            bring: { try $0.endBeforeStart() },
            ask: ("GET", "/v1/overview", ""), answer: (200, #""code":"never_began""#),
            metrics: #"tombolo_cards_never_began_total{reason="start_budget"} 1"#,
            cli: (["why", "dog-11", "phone"], (0, "tombolo budget show --device phone"))),
        TruthRow(
            state: "the first screen counts a card that is out of reach",
            bring: { try $0.refuseCard() },
            ask: ("GET", "/v1/overview", ""), answer: (200, #""unreachable":1"#),
            never: "dismissed", metrics: #"tombolo_cards{state="unreachable"} 1"#,
            cli: (["why", "cat", "phone"], (0, "BadDeviceToken"))),
        TruthRow(
            state: "a card on a channel of its own",
            bring: { try $0.startOnChannel() },
            ask: ("PATCH", "/v1/activities/dog", #"{"state":{"lap":2}}"#),
            answer: (200, #""by_channel":1"#),
            cli: (["update", "dog", "-s", "lap=3"], (0, #""by_channel":1"#))),
        TruthRow(
            state: "cards of three types lack a start token",
            bring: {
                try $0.tablet()
                for name in ["Alpha", "Beta", "Gamma"] {
                    try $0.start(name, name, #""device":"tablet""#)
                }
            },
            ask: ("GET", "/v1/overview", ""), answer: (200, "for the types Alpha, Beta, Gamma."),
            cli: (["why", "Beta", "tablet"], (0, "token"))),
        TruthRow(
            state: "the user has switched Live Activities off",
            bring: {
                try $0.tablet(#","activities_enabled":false"#)
                try $0.start("dog", "Runner", #""device":"tablet""#)
            },
            ask: ("GET", "/v1/devices/tablet/check", ""), answer: (200, "Live Activities off"),
            cli: (["why", "dog", "tablet"], (0, "switched Live Activities off"))),
        TruthRow(
            state: "a system that starts no cards by push",
            bring: { try $0.tablet(#","os":"17.1""#) },
            ask: TruthRow.start("dog", #""type":"Runner","audience":{"device":"tablet"}"#),
            answer: (201, "start-needs-newer-os"),
            cli: (["device", "check", "tablet"], (0, "17.2"))),
        TruthRow(
            state: "the version is in the state",
            bring: { try $0.reportVersionInState() },
            ask: ("GET", "/v1/activities/cat", ""), answer: (200, #""received_version":2"#),
            cli: (["why", "cat", "phone"], (0, "that it has version 2."))),
        TruthRow(
            state: "a pause covers the app",
            bring: { try $0.pauseApp() },
            answer: (200, #""reason":"paused""#),
            cli: (update, (0, "paused"))),
    ]
}
