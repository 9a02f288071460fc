import Testing
import TomboloCore
import TomboloJSON

@testable import TomboloServer

// One tenant alone, and beside a busy one: what it gets for answers.

extension TaintedWorld {
    /// Every answer that tenant 0 gets to the same requests, with its headers, and every push to
    /// its phones; times and what is made by chance are left out.
    mutating func transcript(otherIsBusy: Bool) async throws -> [String] {
        if otherIsBusy { try await bustle(9) }
        try await populate(withCards: false)
        // Nothing waits for its spacing: answers do not hang on how long requests take.
        for phone in phones.prefix(3) {
            let registration = #"{"user":"\#(phone.user)","budget_class":"lab"}"#
            _ = try await doors.call(
                "PUT", "/v1/devices/\(phone.name)", registration, key: operators[0])
        }
        var lines: [String] = []
        for round in 0..<2 {
            if otherIsBusy { try await bustle(round) }
            doors.sender.refusal = round == 0 ? nil : "BadTopic"
            lines += try await write(round, bustling: otherIsBusy)
            try await settle()
            lines += try await read(round)
        }
        for push in doors.sender.pushes where push.upstream == UpstreamNumber(0) {
            lines.append("push \(push.collapseID ?? "-") \(push.event) \(push.token)")
        }
        return lines
    }

    /// Asks until each push to a card has its line in the history, which is written later: what is
    /// read then does not hang on how long that takes.
    private func settle() async throws {
        for _ in 0..<20_000 {
            let answer = try await doors.call(
                "GET", "/v1/deliveries?limit=1000", key: operators[0])
            let lines = try JSONDocument(answer.body).root["deliveries"]?.elements
            let answered = lines?.count { $0["push"] != nil }
            let pushes = doors.sender.pushes.count {
                $0.upstream == UpstreamNumber(0) && $0.surface == .activity
            }
            if answered == pushes { return }
        }
        Issue.record("the history lacks a push")
    }

    private mutating func write(_ round: Int, bustling: Bool) async throws -> [String] {
        var lines: [String] = []
        let phone = phones[0]
        let start = Self.start(for: phone)
        // Answered after Apple's word: what is said does not hang on who was quicker.
        let requests: [(method: String, path: String, body: String?, fields: [String])] = [
            ("PUT", "/v1/activities/c\(round)", start, ["Prefer: wait=5"]),
            (
                "PATCH", "/v1/activities/c\(round)", #"{"state":{"n":1}}"#,
                [#"Idempotency-Key: "k\#(round)""#, "Prefer: wait=5"]
            ),
            (
                "PATCH", "/v1/activities/c\(round)", #"{"state":{"n":1}}"#,
                [#"Idempotency-Key: "k\#(round)""#, "Prefer: wait=5"]
            ),
            (
                "PATCH", "/v1/activities/c\(round)", #"{"state":{"n":2}}"#,
                [#"Idempotency-Key: "k\#(round)""#, "Prefer: wait=5"]
            ),
            (
                "POST", "/v1/events",
                #"{"id":"e\#(round)","activity":"d\#(round)","do":"start","type":"T","state":{}}"#,
                ["Content-Type: application/x-ndjson"]
            ),
            ("POST", "/v1/activities/end", #"{"where":{"type":"T"}}"#, []),
            ("PUT", "/v1/activities/c\(round)", start, []),
            (
                "PUT", "/v1/devices/\(phone.name)/tokens/activity:c\(round)",
                #"{"token":"cc0\#(round)"}"#, []
            ),
            ("PUT", "/v1/devices/\(phone.name)/tokens/widget", #"{"token":"dd"}"#, []),
            ("POST", "/v1/activities/d\(round)/erase", "{}", []),
            ("POST", "/v1/pauses", #"{"type":"Nothing"}"#, []),
            ("POST", "/v1/keys", #"{"scopes":["observe"]}"#, []),
            ("PUT", "/v1/types/Runner", #"{"state":{"type":"object"}}"#, []),
            ("POST", "/v1/timelines/profile/reload", "{}", []),
        ]
        for one in requests {
            if bustling { try await nudge() }
            let answer = try await doors.call(
                one.method, one.path, one.body, key: operators[0], fields: one.fields)
            lines.append("\(one.method) \(one.path) \(Self.plain(answer))")
        }
        return lines
    }

    /// Every route that reads, with what pages and places there are; each page to its end.
    private func read(_ round: Int) async throws -> [String] {
        var paths = RouteTable.routes.filter { $0.method == "GET" && $0.operation != .tail }
            .map { route in
                route.path.text.replacing("{device}", with: phones[0].name)
                    .replacing("{id}", with: "c\(round)").replacing("{name}", with: "x")
                    .replacing("{type}", with: "Runner").replacing("{seq}", with: "3")
                    .replacing("{slug}", with: "forbidden")
            }
        paths += [
            "/v1/activities?limit=2", "/v1/activities/c\(round)?at_seq=\(12 + 8 * round)",
            "/v1/activities/c0?at_seq=1", "/v1/pauses/pause_1",
            "/v1/log?kind=all&limit=3", "/v1/log?kind=fact&limit=3", "/v1/log?limit=3",
            "/v1/log?since=5&limit=1000", "/v1/log?kind=fact&since=3", "/v1/log?do=end&limit=1",
            "/v1/log?activity=c0&limit=1", "/v1/log?activity=c0&kind=all&limit=2",
            "/v1/log/1000000", "/v1/log/12", "/v1/deliveries?limit=2", "/v1/budgets?limit=1",
            "/v1/dead-letters?limit=1",
        ]
        var lines: [String] = []
        for path in paths {
            var next: String? = path
            for _ in 0..<40 {
                guard let page = next else { break }
                let answer = try await doors.call("GET", page, key: operators[0])
                lines.append("GET \(page) \(Self.plain(answer))")
                next = answer.nextCursor.map {
                    "\(path)\(path.contains("?") ? "&" : "?")cursor=\($0)"
                }
            }
        }
        for path in ["/v1/tail?since=0", "/v1/tail?since=7&activity=c0", "/v1/tail?since=1000"] {
            let answers = try await ask([("GET", path)], operators[0])
            lines += answers.map { "GET \(path) \(Self.plain($0))" }
        }
        return lines
    }

    private static func start(for phone: Phone) -> String {
        #"{"type":"Runner","audience":{"device":"\#(phone.name)"},"state":{}}"#
    }

    /// The other tenant does what it likes.
    private mutating func bustle(_ round: Int) async throws {
        let key = try await doors.mint("operate", tenant: Self.tenants[1])
        for number in 0..<3 {
            let name = "n\(round)x\(number)"
            for (method, path, body) in [
                ("PUT", "/v1/devices/\(name)", #"{"user":"u"}"#),
                (
                    "PUT", "/v1/devices/\(name)/tokens/start:Runner",
                    #"{"token":"ee\#(round)\#(number)"}"#
                ),
                (
                    "PUT", "/v1/activities/b\(round)x\(number)",
                    #"{"type":"Runner","audience":{"device":"\#(name)"},"state":{}}"#
                ),
                ("POST", "/v1/pauses", #"{"type":"Nothing"}"#),
                ("POST", "/v1/keys", #"{"scopes":["observe"]}"#),
                ("PUT", "/v1/types/Other\(round)x\(number)", #"{"state":{"type":"object"}}"#),
            ] {
                _ = try await doors.call(method, path, body, key: key)
            }
        }
        _ = try await doors.call("GET", "/v1/nothing", key: key)
    }

    /// And between any two requests.
    private func nudge() async throws {
        _ = try await doors.call(
            "POST", "/v1/events",
            #"{"activity":"nudged","do":"start","type":"T","state":{}}"# + "\n"
                + #"{"activity":"nudged","do":"update","state":{"x":1}}"# + "\n"
                + #"{"activity":"nudged","do":"update","state":{"x":2}}"#,
            key: operators[1], fields: ["Content-Type: application/x-ndjson"])
    }

    private static func plain(_ answer: CurlAnswer) -> String {
        plain("\(answer.status) \(answer.fields.sorted { $0.key < $1.key }) \(answer.text)")
    }

    private static func plain(_ text: String) -> String {
        let patterns = [
            #""[a-z_]*(at|as_of|since|until)":"[^"]*""#, #""apns_id":"[^"]*""#,
            #""id":"dlv_[^"]*""#,
            #"\{"code":"[a-z_]*","text":"It waited [^}]*\},?"#,
            #""(took_ms|took_us|waited_ms)":[0-9.]+"#, #""held":\[[^\]]*\]"#,
            #""held_ms":\{[^}]*\}"#, #"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z"#,
            #"apns-id [0-9a-f-]{36}"#, #"(after|waited) (less than )?[0-9.]+m?s"#,
            #""trace_id":"[^"]*""#,
            #""(id|by|key|replaces)":"[0-9a-f]{12}""#,
            #""created_by":"[0-9a-f]{12}""#,
            // How long things take is the machine's; and who runs the relay sees all commits.
            #"tombolo_(event_to_sent|sent_to_answered)_seconds_(bucket|sum)[^\n]*"#,
            #"tombolo_commit_seconds[^\n]*"#,
            // How long something waits hangs on the machine, and keys have other names each time.
            #"tombolo_waiting_[^\n]*"#, #"tombolo_key_events_total\{[^\n]*"#,
            #""key":"tmb_[^"]*""#, #"(?i)(date|content-length): [^\r\n]*"#, #"curl: [^\n]*"#,
            #"clock_behind_seconds [0-9]+"#,
            // A tag is over all that an answer shows, its times too.
            #"v[0-9]+-[0-9a-f]{8,}"#,
            // For two seconds a reserved start counts as if it were more than one.
            #""starts_left":[0-9]+"#,
            #"\(key: "(date|content-length)", value: "[^"]*"\)"#,
        ]
        return patterns.reduce(text) { text, pattern in
            (try? Regex(pattern)).map { text.replacing($0, with: "") } ?? text  // own patterns
        }
    }
}

extension CurlAnswer {
    fileprivate var nextCursor: String? {
        // An answer without JSON has none.
        (try? JSONDocument(body))?.root["next_cursor"]?.string
    }
}
