import TestSupport
import Testing
import TomboloAPI
import TomboloJSON

@testable import TomboloCore

/// What the doors write is compared with `Protocol/examples/answers`, byte for byte, and with its
/// schema.
@Suite struct AnswerExampleTests {
    private func expect(
        _ name: String, sourceLocation: SourceLocation = #_sourceLocation,
        _ write: (inout JSONWriter) -> Void
    ) throws {
        var writer = JSONWriter()
        write(&writer)
        let written = String(decoding: writer.bytes, as: UTF8.self) + "\n"
        let golden = String(
            decoding: try ProtocolFiles.bytes("examples/answers/\(name).json"), as: UTF8.self)
        #expect(written == golden, "\(name)", sourceLocation: sourceLocation)
        let schema = String(name.prefix { $0 != "." })
        let faults = try SchemaCheck.faults(of: try JSONDocument(writer.bytes).root, schema: schema)
        #expect(faults == [], "\(name)", sourceLocation: sourceLocation)
    }

    @Test func `every example is written by some test here`() throws {
        #expect(
            try ProtocolFiles.names(in: "examples/answers") == [
                "action-answer.taken", "activity-page.one", "activity.playing",
                "batch-result.accepted", "batch-result.refused", "budgets.phone", "channel.dry-run",
                "command-answer.play", "command-answer.replayed", "command-answer.start",
                "command-answer.update", "device-check.phone", "device-page.last",
                "device-view.phone",
                "end-many-answer.dry-run", "end-many-answer.two", "log-entry.action",
                "log-entry.card-began", "log-entry.card-dismissed", "log-entry.card-lost",
                "log-entry.command", "log-entry.cut", "log-entry.left-out",
                "log-entry.presence-covered", "log-entry.presence-leaving",
                "log-entry.presence-returning", "log-entry.push-accepted", "log-entry.push-expired",
                "log-entry.push-refused", "log-entry.push-skipped", "log-entry.timeline-due",
                "log-page.end", "overview.behind", "pause.dry-run", "problem.fields",
                "problem.payload", "retry-answer.dry-run", "stored.dry-run", "stored.kept",
                "timeline-answer.new", "timeline-choices.doors", "timeline-entries.monday",
                "timeline-page.one", "type-page.one",
            ])
    }

    @Test func `a start with its deliveries`() throws {
        var answer = CommandAnswer(Samples.accepted(.start), in: Samples.log)
        var view = Samples.activity
        view.destinations = Array(view.destinations.prefix(1))
        answer.tellDeliveries(of: view, mayObserve: true)
        #expect(answer.httpStatus == 201)
        #expect(answer.entityTag == "\"v1\"")
        try expect("command-answer.start") { answer.write(to: &$0) }
    }

    @Test func `a timeline with its entries, in a list, and what may be chosen`() throws {
        let body = try ProtocolFiles.json("examples/requests/timeline.profile.json").json
        let compact = JSON(unchecked: JSON.line(body.bytes))
        let request = try TimelineRequest(reading: compact.document.root)
        let row = StoredTimeline(
            number: 1,
            key: TimelineKey(
                tenant: Samples.tenant, app: "com.example.app", kind: Identifier("profile")!,
                subject: request.subject),
            timeline: request.timeline, updatedAt: Samples.moment, askedThrough: .distantPast)
        let entries = row.entries(at: Samples.later, in: .utc, family: .systemMedium, cut: nil)
        var written = JSONWriter()
        var text = TimelineEntriesText(entries)
        let isLeft = text.writePiece(to: &written)
        #expect(!isLeft, "it is one piece")
        try expect("timeline-entries.monday") { $0.raw(written.json) }
        let view = TimelineView(
            key: row.key, timeline: row.timeline, updatedAt: row.updatedAt,
            dueAt: row.nextDue([.utc])?.at)
        try expect("timeline-page.one") { ListPage("timelines", [view], next: nil).write(to: &$0) }
        var stored = Stored(.created)
        (stored.count, stored.unreachable) = (2, 1)
        let answer = TimelineAnswer(
            kind: row.key.kind, subject: row.key.subject, stored: stored)
        #expect(answer.httpStatus == 201)
        try expect("timeline-answer.new") { answer.write(to: &$0) }
        let choices = TimelineChoices([(Identifier("door-7")!, entries.snapshot)], next: nil)
        try expect("timeline-choices.doors") { choices.write(to: &$0) }
    }

    @Test func `an update that waits`() throws {
        var accepted = Samples.accepted(.update)
        accepted.decision = .deferred(until: Samples.later, .spacing)
        accepted.destinations = DestinationCounts(sent: 1, deferred: 2)
        let answer = CommandAnswer(accepted, in: Samples.log)
        #expect(answer.httpStatus == 200)
        try expect("command-answer.update") { answer.write(to: &$0) }
    }

    @Test func `budgets, and what the phone is taken to have`() throws {
        let view = BudgetView(
            place: BudgetPlace(
                activity: Identifier("cat-7")!, incarnation: 1, device: Identifier("phone-1")!),
            activity: Identifier("cat-7")!, device: Identifier("phone-1")!,
            grant: GrantInForce(budgetClass: .standard, grant: Budgets()[.standard]), left: 3,
            deviceLeft: 15, startsLeft: 9,
            phone: PhoneBudget(perHour: 15, left: 14, basis: .assumed),
            nextAt: nil, highAt: Samples.later, waiting: nil)
        let widget = SurfaceBudgetView(
            device: Identifier("phone-1")!, surface: "widget", budgetClass: .widget, left: 3,
            nextAt: Samples.later, isWanted: false)
        let page = BudgetPage(
            classes: Budgets(), destinations: [view], surfaces: [widget], isMore: false)
        try expect("budgets.phone") { page.write(to: &$0) }
    }

    @Test func `a clip with its plan`() throws {
        var accepted = Samples.accepted(.play)
        accepted.clip = "clip_7"
        accepted.plan = ClipPlan(
            Samples.flipbook, fit: .step, accepted.grant!, intervalMax: .seconds(20),
            payloadBytes: 412)
        try expect("command-answer.play") {
            CommandAnswer(accepted, in: Samples.log).write(to: &$0)
        }
    }

    @Test func `the answer of an event that was there already`() throws {
        let event = RecordedEvent(
            seq: 1042, previous: 0,
            event: NewEvent(
                tenant: Samples.tenant, activity: ActivityNumber(1), expectedVersion: 0,
                kind: .start, recordedAt: Samples.moment, body: Array("{}".utf8)))
        let answer = CommandAnswer(
            replaying: event, of: Samples.activity.key.id, now: Samples.activity)
        #expect(answer.httpStatus == 201)
        #expect(answer.replayed)
        try expect("command-answer.replayed") { answer.write(to: &$0) }
    }

    @Test func `an activity whose clip plays`() throws {
        try expect("activity.playing") { Samples.activity.write(to: &$0) }
        try expect("activity-page.one") {
            ListPage("activities", [Samples.activity], next: Samples.activity.key.id.rawValue)
                .write(to: &$0)
        }
    }

    @Test func `lines of a batch`() throws {
        try expect("batch-result.accepted") {
            BatchResult.accepted(id: "e1", CommandAnswer(Samples.accepted(.start), in: Samples.log))
                .write(to: &$0)
        }
        try expect("batch-result.refused") {
            let problem = Problem(
                Refusal(.unknownActivity, "No activity \"cat-9\" was ever started."))
            BatchResult.refused(id: "e2", line: 2, problem).write(to: &$0)
        }
    }

    @Test func `the end of many`() throws {
        try expect("end-many-answer.two") {
            EndManyAnswer([Samples.accepted(.end), Samples.accepted(.end)]).write(to: &$0)
        }
    }

    @Test func `what would be, without what only doing it gives`() throws {
        let answer = StoredAnswer(
            device: Samples.device.id, subject: ("token", "widget"), kind: .created,
            isDryRun: true)
        #expect(answer.httpStatus == 200)
        try expect("stored.dry-run") { answer.write(to: &$0) }
        let channel = Channel(
            tenant: Samples.tenant, app: "com.example.app", environment: .sandbox,
            name: Identifier("final"), id: "", storage: .mostRecent)
        try expect("channel.dry-run") {
            ChannelView(channel, activity: nil).write(to: &$0, isDryRun: true)
        }
        try expect("end-many-answer.dry-run") {
            EndManyAnswer(dryRun: [(Samples.activity.key.id, 2)]).write(to: &$0)
        }
        let pause = Pause(
            number: 3, serial: 3, tenant: Samples.tenant, scope: .all, alertsOnly: false,
            reason: nil,
            since: Samples.moment)
        try expect("pause.dry-run") { pause.write(to: &$0, isDryRun: true) }
        var stored = Stored(.updated)
        (stored.count, stored.unreachable) = (3, 1)
        stored.kept = [KeptLetters(.noCard, count: 1)]
        try expect("retry-answer.dry-run") {
            RetryAnswer(stored, isDryRun: true).write(to: &$0)
        }
    }

    @Test func `rows of the log`() throws {
        let event = RecordedEvent(
            seq: 1044, previous: 1042,
            event: NewEvent(
                tenant: Samples.tenant, activity: ActivityNumber(1), expectedVersion: 1,
                kind: .update, recordedAt: Samples.moment,
                body: Array(
                    #"{"id":"e1","activity":"cat-7","do":"update","state":{"lap":1.50}}"#.utf8),
                idempotency: IdempotencyKey(key: "e1", bodyDigest: 7),
                key: AskingKey(id: "5f02c1a9b3d4")))
        let fact = RecordedFact(
            seq: 3,
            fact: NewFact(
                tenant: Samples.tenant, activity: ActivityNumber(1), kind: "push.accepted",
                recordedAt: Samples.moment, body: Array(#"{"status":200}"#.utf8)))
        let name = Samples.activity.key.id
        let cursor = LogCursor(Samples.log, LogPlace(command: event.tenantSeq, fact: 3))
        try expect("log-entry.command") {
            LogEntry.command(event, activity: name).write(
                to: &$0, cursor: cursor, now: Samples.moment)
        }
        try expect("log-page.end") {
            LogPage(
                entries: [
                    (.command(event, activity: nil), cursor), (.fact(fact, activity: name), cursor),
                ], nextCursor: nil
            ).write(to: &$0, now: Samples.moment)
        }
    }

    /// Each fact that a backend may rely on.
    private static let facts: [(name: String, kind: String, body: String)] = [
        (
            "push-accepted", "push.accepted",
            #""version":7,"from":6,"event":"update","route":"update_token","priority":10,"#
                + #""bytes":412,"apns_id":"eabeae54-14a8-8571-b60b-1697f925ec7b","took_us":41000"#
        ),
        (
            "push-refused", "push.refused",
            #""version":7,"from":7,"event":"update","route":"update_token","priority":10,"#
                + #""bytes":412,"apns_id":"eabeae54-14a8-8571-b60b-1697f925ec7b","status":410,"#
                + #""reason":"Unregistered","took_us":41000,"decision":"refused""#
        ),
        ("push-skipped", "push.skipped", #""version":1,"from":1,"decision":"start_wait""#),
        ("push-expired", "push.expired", #""version":7,"from":7,"decision":"expired""#),
        ("card-began", "card.began", #""card":"cat-7","version":1"#),
        ("card-dismissed", "card.dismissed", #""card":"cat-7","version":7,"by":"user""#),
        ("card-lost", "card.lost", #""card":"cat-7","version":7"#),
        ("presence-covered", "presence.covered", #""state":"covered""#),
        ("presence-leaving", "presence.leaving", #""state":"leaving""#),
        ("presence-returning", "presence.returning", #""state":"active""#),
        (
            "action", "action",
            #""action":"act_0123456789abcdef","owner":1,"card":"cat-7","intent":"Feed","#
                + #""parameters":{"food":"fish"},"at":"2026-11-20T09:03:00.000Z","#
                + #""expires_at":"2026-11-20T09:03:30.000Z""#
        ),
        ("timeline-due", "timeline.due", #""kind":"profile","subject":{"user":"u42"}"#),
    ]

    @Test(arguments: facts.map(\.name))
    func `each fact that a backend may rely on has an example`(name: String) throws {
        let one = try #require(Self.facts.first { $0.name == name })
        let head = one.kind == "timeline.due" ? "{" : #"{"device":"phone-1","#
        let fact = RecordedFact(
            seq: 88,
            fact: NewFact(
                tenant: Samples.tenant, activity: ActivityNumber(1), kind: one.kind,
                recordedAt: Samples.moment, body: Array((head + one.body + "}").utf8)))
        let ofActivity = !one.kind.hasPrefix("presence") && one.kind != "timeline.due"
        let user = one.kind == "action" ? "u42" : nil
        let entry = LogEntry.fact(
            fact, activity: ofActivity ? Samples.activity.key.id : nil, user: user)
        let cursor = LogCursor(Samples.log, LogPlace(command: 1042, fact: 88))
        try expect("log-entry.\(name)") {
            entry.write(to: &$0, cursor: cursor, now: Samples.moment)
        }
    }

    @Test func `what has expired keeps its parameters for itself`() throws {
        let one = try #require(Self.facts.first { $0.name == "action" })
        let fact = RecordedFact(
            seq: 88,
            fact: NewFact(
                tenant: Samples.tenant, activity: nil, kind: one.kind, recordedAt: Samples.moment,
                body: Array((#"{"device":"phone-1","# + one.body + "}").utf8)))
        let cursor = LogCursor(Samples.log, LogPlace(command: 1042, fact: 88))
        for (left, isExpired) in [(1, false), (0, true)] {
            let now = Instant(rfc3339: "2026-11-20T09:03:30Z")! - Span.milliseconds(Int64(left))
            var writer = JSONWriter()
            LogEntry.fact(fact, activity: nil).write(to: &writer, cursor: cursor, now: now)
            let view = try JSONDocument(writer.bytes).root
            #expect(view["expired"]?.bool == (isExpired ? true : nil))
            #expect((view["parameters"] == nil) == isExpired)
            #expect(ActionFact.hasExpired(fact.fact, now: now) == isExpired)
        }
    }

    @Test func `rows that the log has not are counted in their place`() throws {
        let thinned = RecordedFact(
            seq: 90,
            fact: NewFact(
                tenant: Samples.tenant, activity: nil, kind: "history.thinned",
                recordedAt: Samples.moment,
                body: Array(
                    #"{"from":"2026-11-20T09:02:00.000Z","left_out":{"push.merged":7}}"#.utf8)))
        let cursor = LogCursor(Samples.log, LogPlace(command: 1042, fact: 90))
        try expect("log-entry.left-out") {
            LogEntry.thinned(thinned).write(to: &$0, cursor: cursor, now: Samples.moment)
        }
        try expect("log-entry.cut") {
            LogEntry.cut(RowsLeftOut(kind: "fact", after: 12, through: 90), at: Samples.moment)
                .write(to: &$0, cursor: cursor, now: Samples.moment)
        }
    }

    @Test func `an action is answered with its id`() throws {
        let taken = Stored.TakenAction(id: "act_0123456789abcdef", expiresAt: Samples.later)
        try expect("action-answer.taken") { ActionAnswer(taken).write(to: &$0) }
    }

    @Test func `a device, with no token whole`() throws {
        try expect("device-view.phone") { Samples.device.write(to: &$0) }
    }

    @Test func `what a device's app has told, and what lacks`() throws {
        let device = Samples.device
        let check = DeviceCheck(
            of: device.id, device, boundUsers: ["u42"], at: Samples.moment + .hours(2))
        try expect("device-check.phone") { check.write(to: &$0) }
    }

    @Test func `lists of what is registered`() throws {
        try expect("device-page.last") {
            ListPage("devices", [Samples.device], next: nil).write(to: &$0)
        }
        let type = TypeView(
            app: "com.example.app", name: "Order", budgetClass: nil,
            body: JSON(unchecked: Array(#"{"app":"com.example.app","plays":true}"#.utf8)))
        try expect("type-page.one") { ListPage("types", [type], next: nil).write(to: &$0) }
    }

    @Test func `what an operator looks at first`() throws {
        var overview = Overview()
        let (cat, phone) = (Identifier("cat-7")!, Identifier("phone-2")!)
        overview.add(
            Overview.Behind(
                activity: cat, device: phone, versions: 3, budgetClass: .standard,
                waiting: .deferred(until: nil, .startToken)))
        (overview.cards[.behind], overview.cards[.shown]) = (1, 1)
        let answer = OverviewAnswer(
            tenant: Samples.tenant, keyID: "27ed6288b7d8", scopes: ["observe"],
            at: Samples.moment, hasPhones: false,
            counters: CoreCounters(
                eventsAccepted: 1042, pushesSent: 980, pushesAccepted: 979, activitiesLive: 1,
                destinations: 2, devices: 2),
            lastSeq: 1042, countedAt: Samples.moment, overview: overview,
            attention: [
                .init(
                    .noToken, "These phones have no token to push to.", count: 1, activity: cat,
                    device: phone, commands: ["tombolo device show phone-2"])
            ])
        try expect("overview.behind") { answer.write(to: &$0) }
    }

    @Test func `a token that came before its activity`() throws {
        let answer = StoredAnswer(
            device: Samples.device.id, subject: ("token", "activity:cat-7"), kind: .kept)
        #expect(answer.httpStatus == 202)
        try expect("stored.kept") { answer.write(to: &$0) }
    }

    @Test func `problems`() throws {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        let fields = Problem(
            FieldErrors([
                FieldError(pointer: "/stat", message: "unknown field; did you mean \"state\"?"),
                FieldError(pointer: "/type", message: "is missing"),
            ]))
        try expect("problem.fields") { fields.write(to: &$0, traceID: trace) }
        let payload = Problem(
            Refusal(.payloadTooLarge, "The push would have 5,000 bytes.", bytesOver: 904))
        try expect("problem.payload") { payload.write(to: &$0, traceID: trace) }
    }
}
