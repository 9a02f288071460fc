import TomboloAPI
import TomboloCore
import TomboloJSON
import TomboloSimulator

/// Mondays at 06:00 of scenario `profile`, on virtual time: the relay's core, one simulated phone
/// with one widget, and a producer that says the week's rank when it is asked. Weeks take
/// milliseconds.
struct ProfileMondays {
    /// A zone, the local day and time at which the widget is put there, and for how many days it is
    /// watched.
    struct Case: Sendable {
        var name: String
        var zone: String
        var begins: String
        var days: Int64
    }

    static let cases = [
        Case(
            name: "asked on a Sunday, over the end of summer time", zone: "Europe/Berlin",
            begins: "2026-10-18T12:00:00+02:00", days: 23),
        Case(
            name: "at exactly 06:00:00 on a Monday", zone: "Europe/Berlin",
            begins: "2026-11-02T06:00:00+01:00", days: 8),
        Case(
            name: "over the beginning of summer time", zone: "Europe/Berlin",
            begins: "2027-03-21T23:59:59+01:00", days: 16),
        Case(
            name: "by the clock of another zone", zone: "America/New_York",
            begins: "2026-10-25T12:00:00-04:00", days: 16),
    ]

    private static let app = "com.example.app"
    private static let tenant = TenantID(id("main"))
    private static let device = DeviceKey(tenant: tenant, id: id("phone-1"))
    private static let kind = id("profile")
    private static let user = "u1"
    private static let widget = Widget.Key(kind: "profile", family: .systemSmall)

    private static func id(_ text: String) -> Identifier {
        guard let id = Identifier(text) else { preconditionFailure("\(text) is an identifier") }
        return id
    }

    private let rules: TimeZoneRules
    private var core: Core
    private var phone: Phone
    private var now: Instant
    private var seq: Int64 = 0
    private var factSeq: Int64 = 0
    private var ticket: UInt64 = 0
    private var rank: Int64 = 9
    /// What the widget showed, each with its moment; and when the producer was asked.
    private var lines: [JSON] = []

    /// What `trigger profile --steps` prints for people.
    static func table(of cases: [JSON], for terminal: Terminal) -> String {
        cases.map { json in
            let view = json.document.root
            var table = TextTable(["DAY", "BY THE PHONE'S CLOCK", "WHAT"])
            for line in view["seen"]?.elements.map({ $0 }) ?? [] {
                let what =
                    if let state = line["shows"] {
                        "shows \(state.json)"
                    } else if let cause = line["fetched"]?.string {
                        "fetches (\(cause))"
                    } else {
                        "the relay asks the producer"
                    }
                table.add([line["day"]?.string ?? "", line["local"]?.string ?? "", what])
            }
            let title = "\(view["zone"]?.string ?? ""), \(view["case"]?.string ?? "")"
            return title + "\n" + table.text(for: terminal)
        }.joined(separator: "\n")
    }

    /// One JSON object for each case.
    static func run() throws -> [JSON] {
        try cases.map { item in
            guard let begins = Instant(rfc3339: item.begins),
                let rules = ZoneDirectory.shared.rules(of: item.zone)
            else {
                throw ProgramError(
                    "this machine knows no time zone \(item.zone)", remedy: "apt install tzdata")
            }
            var world = try ProfileMondays(rules, zone: item.zone, begins: begins)
            try world.advance(to: begins + .hours(24 * item.days))
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("case", item.name)
            writer.member("zone", item.zone)
            writer.name("seen")
            writer.beginArray()
            for line in world.lines { writer.raw(line) }
            writer.endArray()
            writer.endObject()
            return writer.json
        }
    }

    private init(_ rules: TimeZoneRules, zone: String, begins: Instant) throws {
        var configuration = CoreConfiguration(apps: [
            CoreConfiguration.App(
                tenant: Self.tenant, id: Self.app, environment: .sandbox, allowsLab: true)
        ])
        configuration.zones = ZoneDirectory.shared
        core = Core(configuration: configuration, seed: 1)
        phone = Phone(
            PhoneConfiguration(
                name: Self.device.id.rawValue, bundleID: Self.app, startTokenSeed: [1],
                updateTokenSeed: [2]), at: WallInstant(nanoseconds: begins.nanoseconds))
        (self.rules, now) = (rules, begins)
        try register(zone)
        try putRank()
        try carryOut(phone.addWidget(Self.widget, at: wall))
    }

    private var wall: WallInstant { WallInstant(nanoseconds: now.nanoseconds) }

    private mutating func register(_ zone: String) throws {
        let body = #"{"user":"\#(Self.user)","os":"26.1","time_zone":"\#(zone)"}"#
        let view = try JSONDocument(Array(body.utf8)).root
        try step(
            .device(Self.device, .register(try DeviceRegistration(reading: view)), next()))
        try carryOut(phone.boot())
    }

    /// What the producer says: the newest week's rank, and copies of it for the next two Mondays.
    private mutating func putRank() throws {
        let body =
            #"{"subject":{"user":"\#(Self.user)"},"content":{"name":"Ada","rank":\#(rank)},"#
            + #""schedule":{"weekly":{"on":"monday","at":"06:00","zone":"device"},"count":2}}"#
        let request = try TimelineRequest(reading: try JSONDocument(Array(body.utf8)).root)
        try step(.timeline(.put(request, kind: Self.kind), Self.tenant, next()))
    }

    private mutating func next() -> Ticket {
        ticket += 1
        return Ticket(ticket)
    }

    /// Goes on from one deadline of core and phone to the next.
    private mutating func advance(to end: Instant) throws {
        while true {
            let wakes = [
                core.nextWake, phone.deadline.map { Instant(nanoseconds: $0.nanoseconds) },
            ].compactMap(\.self)
            guard let next = wakes.min(), next <= end else { return now = end }
            now = max(now, next)
            try carryOut(phone.advance(to: wall))
            try step(.tick)
        }
    }

    // MARK: The relay

    private mutating func step(_ input: Input) throws {
        var effects = Effects()
        core.step(input, now: now, effects: &effects)
        try carryOut(effects)
        while let batch = core.takeBatch(now: now) {
            let receipt = AppendReceipt(
                firstSeq: seq + 1, firstFactSeq: factSeq + 1, of: batch)
            seq += Int64(batch.events.count)
            factSeq += Int64(batch.facts.count)
            var effects = Effects()
            core.step(.committed(receipt), now: now, effects: &effects)
            try carryOut(effects)
            for fact in batch.facts where fact.kind == "timeline.due" {
                note { $0.member("asked", true) }
                // Better by one each week.
                rank -= 1
                try putRank()
            }
        }
    }

    private mutating func carryOut(_ effects: Effects) throws {
        for lane in effects.channels { try step(.capacity(lane, 10)) }
        for push in effects.pushes {
            try step(
                .pushEnded(PushOutcome(push: push.id, result: .accepted, took: .zero)))
            try carryOut(
                phone.receive(
                    AcceptedPush(
                        apnsID: push.apnsID, token: push.token,
                        topic: PushTopic(bundleID: Self.app, suffix: ".push-type.widgets"),
                        type: .widgets, priority: Int(push.priority), expiration: .absent,
                        collapseID: nil, payload: push.payload, acceptedAt: wall), at: wall))
        }
    }

    // MARK: The phone

    private mutating func carryOut(_ effects: [PhoneEffect]) throws {
        for effect in effects {
            switch effect {
            case .tokenIssued(let token, let purpose) where purpose == .widget:
                let body = try JSONDocument(Array(#"{"token":"\#(token)"}"#.utf8)).root
                guard let name = TokenName("widget") else { continue }
                try step(
                    .device(
                        Self.device, .putToken(name, try TokenRegistration(reading: body)), next()))
            case .widgetFetch(let widget):
                let entries = try core.entries(
                    Self.kind, app: nil, nil, family: .systemSmall,
                    by: .device(Self.device.id, boundTo: nil), of: Self.tenant, now: now)
                note { $0.member("fetched", widget.fetching?.rawValue ?? "") }
                var writer = JSONWriter()
                var text = TimelineEntriesText(entries)
                while text.writePiece(to: &writer) {}
                guard let timeline = WidgetTimeline(writer.bytes, etag: nil) else { continue }
                try carryOut(phone.widgetFetched(widget.key, .timeline(timeline), at: wall))
            case .widgetDrawn(let widget):
                guard let entry = widget.current else { continue }
                note {
                    $0.name("shows")
                    $0.raw(entry.content)
                }
            default: break
            }
        }
    }

    /// Adds a line: the day and time by the phone's clock, and what was seen.
    private mutating func note(_ write: (inout JSONWriter) -> Void) {
        let offset = rules.offset(at: now)
        var writer = JSONWriter()
        writer.beginObject()
        // The Monday is the fourth day after the Thursday with which time begins.
        let day = (now + offset).seconds / 86_400
        let days = ["thursday", "friday", "saturday", "sunday", "monday", "tuesday", "wednesday"]
        writer.member("day", days[Int(day % 7)])
        writer.member("local", String((now + offset).rfc3339InSeconds.dropLast()))
        writer.member("at", now.rfc3339)
        write(&writer)
        writer.endObject()
        lines.append(writer.json)
    }
}
