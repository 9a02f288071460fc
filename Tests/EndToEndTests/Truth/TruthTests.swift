import Glibc
import Testing

@testable import TomboloProgram

/// For each state of the relay: what a producer is answered, what `/readyz`, `/metrics`, stderr and
/// `doctor` say, and how a command ends. A state that is told to one and hidden from another is how
/// operators are misled.
@Suite(.serialized) struct TruthTests {
    private static let closed =
        #"tombolo_upstreams{app="com.example.app",environment="sandbox",state="closed"} 1"#
    private static let update = ["update", "cat", "-s", "lap=8"]

    static let rows: [TruthRow] = [
        TruthRow(
            state: "all is well",
            ask: ("PATCH", "/v1/activities/cat", #"{"state":{"lap":9},"alert":{"title":"a"}}"#),
            answer: (
                200,
                #""destinations":{"sent":0,"sending":1,"deferred":0"#
            ),
            cli: (update, (0, #""sending":1"#))),

        // A start that no phone can show.
        TruthRow(
            state: "no audience", ask: TruthRow.start("dog", #""type":"Runner""#),
            answer: (201, "audience-missing"),
            cli: (["start", "emu", "--type", "Runner", "-s", "lap=1"], (0, "no phone shows it"))),
        TruthRow(
            state: "an unknown device",
            ask: TruthRow.start("dog", #""type":"Runner","audience":{"device":"phnoe"}"#),
            answer: (201, "device-not-registered"),
            cli: (
                ["start", "emu", "--type", "Runner", "--device", "phnoe", "-s", "lap=1"],
                (0, "device \\\"phnoe\\\" is not registered")
            )),
        TruthRow(
            state: "an unknown user",
            ask: TruthRow.start("dog", #""type":"Runner","audience":{"user":"u43"}"#),
            answer: (201, "user-without-device"),
            cli: (
                ["start", "emu", "--type", "Runner", "--user", "u43", "-s", "lap=1"],
                (0, "no device of user")
            )),
        TruthRow(
            state: "a type one letter off",
            ask: TruthRow.start("dog", #""type":"Runer","audience":{"device":"phone"}"#),
            answer: (201, "type-not-registered"),
            cli: (
                ["start", "emu", "--type", "Runer", "--device", "phone", "-s", "lap=1"],
                (0, "did you mean")
            )),
        TruthRow(
            state: "an app that is not configured",
            ask: TruthRow.start("dog", #""type":"Runner","app":"com.example.ap""#),
            answer: (422, "unknown-app"),
            cli: (
                ["start", "emu", "--type", "Runner", "--app", "com.example.ap", "-s", "lap=1"],
                (1, "did you mean")
            )),
        TruthRow(
            state: "a relay without an app", hasApp: false,
            ask: TruthRow.start("dog", #""type":"Runner""#), answer: (201, "app-not-configured"),
            stderr: "no app is configured", doctor: (1, "no app is configured"),
            cli: (["start", "emu", "--type", "Runner", "-s", "lap=1"], (0, "no app is configured"))),

        // A channel.
        TruthRow(
            state: "a channel: who listens is unknown",
            bring: { try $0.broadcast() },
            ask: ("GET", "/v1/activities/match/explain?version=1", ""),
            answer: (200, "Who listens on the channel is unknown."),
            cli: (
                ["update", "match", "-s", "lap=8", "--wait", "5s", "-o", "table"],
                (0, "on the channel; who listens is unknown")
            )),

        // A card that is gone.
        TruthRow(
            state: "the card is gone: an update",
            bring: { try $0.swipe() },
            answer: (200, #""destinations":{"sent":0,"sending":0,"deferred":0,"skipped":1}"#),
            cli: (update, (0, "no_route"))),
        TruthRow(
            state: "the card is gone: an end",
            bring: { try $0.swipe() },
            ask: ("POST", "/v1/activities/cat/end", "{}"),
            answer: (200, #""destinations":{"sent":0,"sending":0,"deferred":0,"skipped":1}"#),
            cli: (["end", "cat", "--wait", "1s"], (0, #""skipped":1"#))),

        TruthRow(
            state: "the activity has ended before its alert went",
            bring: { try $0.endBeforeAlert() },
            ask: ("GET", "/v1/activities/cat/explain?version=2", ""),
            answer: (200, "The alert was not sent"),
            cli: (["why", "cat", "phone", "2"], (0, "The alert was not sent"))),

        TruthRow(
            state: "Apple refused a start token",
            bring: { try $0.refuseToken() },
            ask: ("GET", "/v1/overview", ""), answer: (200, #""code":"token_refused""#),
            cli: (["why", "dog", "tablet"], (0, "400 BadDeviceToken (sandbox)"))),

        TruthRow(
            state: "a start token of before the phone's system",
            bring: {
                for os in ["26.5", "27.0"] {
                    _ = try $0.request("PUT", "/v1/devices/phone", "{\"os\":\"\(os)\"}")
                }
            },
            ask: TruthRow.start("dog", #""type":"Runner","audience":{"device":"phone"}"#),
            answer: (201, "start-token-old"),
            cli: (["why", "dog", "phone"], (0, "switch the app's Live Activities off and on"))),

        TruthRow(
            state: "a widget has the key of the user before",
            bring: { try $0.fetchWithFormerKey() },
            ask: ("GET", "/v1/timelines/profile/explain?device=phone", ""),
            answer: (200, "The relay refuses its key"),
            cli: (["why", "widget:profile", "phone"], (0, "key-of-former-user"))),

        TruthRow(
            state: "a later state_version came first",
            bring: {
                _ = try $0.request(
                    "PATCH", "/v1/activities/cat", #"{"state":{"lap":7},"state_version":7}"#,
                    prefer: "wait=5")
            },
            ask: ("PATCH", "/v1/activities/cat", #"{"state":{"lap":6},"state_version":6}"#),
            answer: (200, #""reason":"superseded""#),
            cli: (["why", "cat", "phone"], (0, "A later `state_version` came first"))),

        TruthRow(
            state: "a phone draws no more", hasOwnClock: true,
            bring: { try $0.freeze() }, ask: ("GET", "/v1/overview", ""),
            answer: (200, #""code":"frozen""#),
            cli: (["why", "cat", "phone"], (0, "the picture stays"))),

        TruthRow(
            state: "what is left at priority 10 is kept for alerts",
            bring: { try $0.spendToReserve() },
            ask: ("GET", "/v1/activities/cat/explain?version=5", ""),
            answer: (200, "went at priority 5: 1 of the bucket's 4 is kept for alerts (reserve)"),
            cli: (update + ["--urgency", "high"], (0, "is kept for alerts (reserve)"))),

        // Apple.
        TruthRow(
            state: "Apple cannot be reached",
            bring: {
                try $0.killSimulator()
                try $0.pushUntilParked()
            },
            answer: (200, "upstream-closed"), metrics: closed,
            stderr: "pushes wait", doctor: (7, "cannot be reached"),
            cli: (update, (0, "upstream-closed"))),
        TruthRow(
            state: "Apple refuses the key",
            bring: {
                try $0.fault(#"{"reason":"InvalidProviderToken"}"#)
                try $0.pushUntilParked()
            },
            answer: (200, "upstream-closed"), metrics: closed,
            stderr: "pushes wait: Apple answers 403 InvalidProviderToken",
            doctor: (1, "Apple does not know key"), cli: (update, (0, "upstream-closed"))),

        TruthRow(
            state: "Apple refuses the key, and an operator tries at once",
            bring: {
                try $0.fault(#"{"reason":"InvalidProviderToken"}"#)
                try $0.pushUntilParked()
            },
            ask: ("POST", "/v1/upstreams/com.example.app/retry", ""),
            answer: (200, #""cause":"Apple answers 403 InvalidProviderToken""#), metrics: closed,
            doctor: (1, "Apple does not know key"),
            cli: (["why", "cat", "phone"], (0, "Apple answers 403 InvalidProviderToken"))),

        // The log's disk.
        TruthRow(
            state: "the disk is full", hasSmallDisk: true, bring: { try $0.fillDisk() },
            answer: (507, "log-full"), ready: (503, "nearly full"), metrics: "tombolo_ready 0",
            stderr: "the disk of the log is nearly full", doctor: (1, "nearly full"),
            cli: (update, (1, "disk"))),
        TruthRow(
            state: "the disk has room again", hasSmallDisk: true,
            bring: {
                try $0.fillDisk()
                _ = try $0.request("PATCH", "/v1/activities/cat", #"{"state":{"lap":1}}"#)
                $0.clearDisk()
            },
            answer: (200, #""sending":1"#), stderr: "events are taken",
            cli: (update, (0, #""sending":1"#))),

        // The log's rows, and a copy of them.
        TruthRow(
            state: "a row is damaged",
            bring: { try $0.damageLog() },
            answer: (409, "damaged"), stderr: "activity cat of main (number 1) is damaged",
            cli: (update, (3, "damaged"))),
        TruthRow(
            state: "a copy is damaged",
            bring: { try $0.damageCopy() },
            answer: (200, #""sending":1"#),
            cli: (["backup", "restore", "WORK/copy", "--data", "WORK/new"], (3, "is damaged"))),

        TruthRow(
            state: "others may use the data directory",
            bring: { try $0.openData() },
            answer: (200, #""sending":1"#), stderr: "others could read or write",
            cli: (["config", "reload", "-o", "table"], (0, "others could read or write"))),

        // The clock.
        TruthRow(
            state: "the clock is set back", hasOwnClock: true, bring: { try $0.setClockBack() },
            answer: (200, #""seq""#), ready: (200, "ready; clock 2h behind"),
            metrics: "tombolo_clock_behind_seconds 7", stderr: "behind the timestamps",
            doctor: (1, "clock"), cli: (update, (0, #""seq""#))),
        TruthRow(
            state: "the clock was set back and is right again", hasOwnClock: true,
            bring: {
                try $0.setClockBack()
                _ = try $0.request("GET", "/readyz")
                try $0.setClock("+0")
            },
            answer: (200, #""sending":1"#), metrics: "tombolo_clock_behind_seconds 0",
            stderr: "ahead of the machine's clock any more",
            cli: (update, (0, #""sending":1"#))),

        TruthRow(
            state: "the clock is behind at the start", hasOwnClock: true,
            bring: { try $0.restart(withClock: "-2h") },
            answer: (200, #""seq""#), ready: (200, "ready; clock 2h behind"),
            metrics: "tombolo_clock_behind_seconds 7", stderr: "behind the timestamps",
            // Apple takes no token of another time.
            doctor: (1, "machine's clock"), cli: (update, (0, "or set the clock"))),
        TruthRow(
            state: "the clock was ahead and is right again", hasOwnClock: true,
            bring: {
                try $0.restart(withClock: "+30m")
                _ = try $0.request(
                    "PATCH", "/v1/activities/cat", #"{"state":{"lap":3}}"#, prefer: "wait=5")
                try $0.restart(withClock: "+0")
            },
            answer: (200, #""sending":1"#), ready: (200, "ready; clock 30m behind"),
            metrics: "tombolo_clock_behind_seconds 1", stderr: "behind the timestamps",
            doctor: (1, "if it is right, do nothing"), cli: (update, (0, #""sending":1"#))),

        TruthRow(
            state: "the clock was years ahead and is right again", hasOwnClock: true,
            bring: {
                try $0.restart(withClock: "+400d")
                _ = try $0.request("PATCH", "/v1/activities/cat", #"{"state":{"lap":3}}"#)
                try $0.restart(withClock: "+0")
            },
            answer: (200, #""sending":1"#), metrics: "tombolo_clock_behind_seconds 0",
            cli: (update, (0, #""sending":1"#))),

        // The listener's certificate.
        TruthRow(
            state: "the certificate has expired", certificate: "-40d",
            answer: (200, #""sending":1"#), metrics: "tombolo_certificate_end_seconds",
            stderr: "the certificate expired", doctor: (1, "the certificate expired"),
            cli: (update, (5, "is not trusted"))),
        TruthRow(
            state: "the certificate expires soon", certificate: "-29d",
            answer: (200, #""sending":1"#), metrics: "tombolo_certificate_end_seconds",
            stderr: "the certificate expires in", doctor: (1, "the certificate expires in"),
            cli: (update, (0, #""sending":1"#))),

        // Keys and names.
        TruthRow(
            state: "an unknown activity",
            ask: ("PATCH", "/v1/activities/cta", #"{"state":{}}"#),
            answer: (404, "unknown-activity"),
            cli: (["update", "cta", "-s", "a=1"], (3, "no activity"))),
        TruthRow(
            state: "a pause of nothing", ask: ("POST", "/v1/pauses", #"{"activity":"cta"}"#),
            answer: (404, "would hold nothing"),
            cli: (["pause", "--type", "Runer"], (3, "would hold nothing"))),
        TruthRow(
            state: "an erasure of nobody", ask: ("POST", "/v1/devices/nobody/erase", ""),
            answer: (404, "Nothing of a device"),
            cli: (["erase", "device", "nobody"], (3, "Nothing of a device"))),
        TruthRow(
            state: "a wrong key", answer: (200, #""sending":1"#),
            cli: (["log", "ls", "--key", "tmb_nonsense"], (4, "tombolo help key mint"))),

        // No relay, or not yet or no more.
        TruthRow(
            state: "the relay drains",
            bring: { try $0.drain() },
            answer: (0, ""), ready: (0, ""), metrics: nil, doctor: (1, "no relay listens on"),
            cli: (update, (5, "no relay at"))),
        TruthRow(
            state: "the relay has stopped",
            bring: { bench in try #require(bench.relay.terminate() == 0) },
            answer: (0, ""), ready: (0, ""), metrics: nil, doctor: (1, "no relay listens on"),
            cli: (update, (5, "no relay at"))),
    ]

    @Test(arguments: rows + phoneRows)
    func `all who are asked say the same of it`(row: TruthRow) throws {
        let bench = try TruthBench(row)
        do {
            try row.bring(bench)
        } catch let missing as TruthBench.NoSmallDisk {
            return print("skipped: \(row.state): \(missing.reason)")
        }
        let answer = try bench.request(row.ask.method, row.ask.path, row.ask.body)
        #expect(answer.status == row.answer.status, "\(answer.body)")
        #expect(row.answer.text.isEmpty || answer.body.contains(row.answer.text), "\(answer.body)")
        if let never = row.never { #expect(!answer.body.contains(never), "\(answer.body)") }
        let ready = try bench.request("GET", "/readyz")
        #expect(ready.status == row.ready.status)
        #expect(row.ready.text.isEmpty || ready.body.contains(row.ready.text), "\(ready.body)")
        if let line = row.metrics {
            let metrics = try bench.request("GET", "/metrics").body
            #expect(metrics.contains("\n\(line)"), "\(metrics)")
        }
        if let text = row.stderr { #expect(try bench.errorLine(containing: text)) }
        let doctor = try bench.doctor()
        #expect(doctor.status == row.doctor.status, "\(doctor.output)\(doctor.errors)")
        #expect(doctor.output.contains(row.doctor.text), "\(doctor.output)")
        let command = try bench.command(row.cli.words)
        let text = command.output + command.errors
        #expect(command.status == row.cli.exit.status, "\(text)")
        #expect(text.contains(row.cli.exit.text), "\(text)")
        if let never = row.never { #expect(!text.contains(never), "\(text)") }
    }

    @Test func `a key for one scheme at the other's port is told which one it speaks`() throws {
        for row in [Self.rows[0], Self.rows.first { $0.certificate != nil } ?? Self.rows[0]] {
            let bench = try TruthBench(row)
            let isTLS = row.certificate != nil
            let wrong = bench.relay.api.replacing(
                isTLS ? "https:" : "http:", with: isTLS ? "http:" : "https:")
            let result = try bench.command(["log", "ls", "--relay", wrong])
            #expect(result.status == 5)
            let speaks = isTLS ? "speaks TLS and not clear text" : "speaks clear text and not TLS"
            #expect(result.errors.contains(speaks), "\(result.errors)")
            #expect(result.errors.contains("try: --relay \(bench.relay.api)"), "\(result.errors)")
        }
    }
}
