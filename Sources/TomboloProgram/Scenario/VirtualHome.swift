import TomboloAPI
import TomboloCore
import TomboloJSON
import TomboloSimulator

/// A relay's core and one simulated phone on virtual time, for scenarios whose weeks take
/// milliseconds. Without a network between them, each gets the other's messages at once.
///
///     let home = try VirtualHome(user: "u1", zone: "Europe/Berlin", begins: begins)
///     home.saw = { if case .drawn(let widget) = $0 { print(widget) } }
///     try home.put(#"{"subject":{"user":"u1"},"content":{"a":1}}"#, kind: "profile")
///     try home.place(Widget.Key(kind: "profile", family: .systemSmall))
///     try home.advance(to: begins + .hours(1))
final class VirtualHome {
    /// Something that the core or the phone did.
    enum Sight {
        /// The core recorded a fact.
        case fact(NewFact)
        case fetched(Widget)
        case drawn(Widget)
        case tapped(PhoneTap)
    }

    static let app = "com.example.app"
    static let tenant = TenantID(id("main"))
    static let device = DeviceKey(tenant: tenant, id: id("phone-1"))

    static func id(_ text: String) -> Identifier {
        guard let id = Identifier(text) else { preconditionFailure("\(text) is an identifier") }
        return id
    }

    let rules: TimeZoneRules
    private(set) var now: Instant
    /// Called with each `Sight`, in order.
    var saw: (Sight) throws -> Void = { _ in }
    private var core: Core
    private var phone: Phone
    private var seq: Int64 = 0
    private var factSeq: Int64 = 0
    private var ticket: UInt64 = 0
    /// The core's answer to the newest command.
    private var answer: Answer?

    /// Makes the phone of a user. It is online, and the relay knows its tokens.
    init(user: String, zone: String, begins: Instant) throws {
        guard let rules = ZoneDirectory.shared.rules(of: zone) else {
            throw ProgramError(
                "this machine knows no time zone \(zone)", remedy: "apt install tzdata")
        }
        (self.rules, now) = (rules, begins)
        var configuration = CoreConfiguration(apps: [
            CoreConfiguration.App(
                tenant: Self.tenant, id: Self.app, environment: .sandbox, allowsLab: true)
        ])
        configuration.zones = ZoneDirectory.shared
        configuration.budgets = DevWorkplace.budgets
        core = Core(configuration: configuration, seed: 1)
        phone = Phone(
            PhoneConfiguration(
                name: Self.device.id.rawValue, bundleID: Self.app, startTokenSeed: [1],
                updateTokenSeed: [2]), at: WallInstant(nanoseconds: begins.nanoseconds))
        let body = #"{"user":"\#(user)","os":"26.1","time_zone":"\#(zone)"}"#
        try tell(.register(try DeviceRegistration(reading: try Self.view(body))))
        try carryOut(phone.boot())
    }

    var wall: WallInstant { WallInstant(nanoseconds: now.nanoseconds) }

    private static func view(_ text: String) throws -> JSONView {
        try JSONDocument(Array(text.utf8)).root
    }

    // MARK: Actions

    /// The producer puts a timeline.
    func put(_ body: String, kind: String) throws {
        let request = try TimelineRequest(reading: try Self.view(body))
        try ask { .timeline(.put(request, kind: Self.id(kind)), Self.tenant, $0) }
    }

    func register(_ body: String, type: String) throws {
        let read = try ActivityType(reading: try Self.view(body))
        try ask { .type(read, name: type, app: nil, Self.tenant, $0) }
    }

    /// The producer starts, updates or ends an activity.
    func command(_ kind: EventKind, _ activity: String, _ body: String) throws {
        let key = ActivityKey(tenant: Self.tenant, id: Self.id(activity))
        let content = try Command.Content(kind: kind, try Self.view(body))
        let command = Command(activity: key, content: content, body: Array(body.utf8))
        try ask { .command(command, $0) }
    }

    func place(_ widget: Widget.Key) throws { try carryOut(phone.addWidget(widget, at: wall)) }

    /// The phone's user does something.
    func use(_ deed: (inout Phone, WallInstant) -> [PhoneEffect]) throws {
        try carryOut(deed(&phone, wall))
    }

    /// Delivers a tap to the relay.
    ///
    /// - Returns: the code of the refusal; nil if the relay accepts the tap.
    func deliver(_ tap: PhoneTap) throws -> String? {
        let action = try DeviceAction(reading: try JSONDocument(tap.body).root)
        try tell(.action(action))
        if case .refused(let refusal)? = answer { return refusal.code.rawValue }
        return nil
    }

    /// Advances the time to `end`, from one deadline of core or phone to the next.
    func advance(to end: Instant) throws {
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

    private func tell(_ command: DeviceCommand) throws {
        try ask { .device(Self.device, command, $0) }
    }

    private func ask(_ input: (Ticket) -> Input) throws {
        ticket += 1
        answer = nil
        try step(input(Ticket(ticket)))
    }

    // MARK: The relay

    private func step(_ input: Input) throws {
        var effects = Effects()
        core.step(input, now: now, effects: &effects)
        try carryOut(effects)
        while let batch = core.takeBatch(now: now) {
            let receipt = AppendReceipt(firstSeq: seq + 1, firstFactSeq: factSeq + 1, of: batch)
            seq += Int64(batch.events.count)
            factSeq += Int64(batch.facts.count)
            var effects = Effects()
            core.step(.committed(receipt), now: now, effects: &effects)
            try carryOut(effects)
            for fact in batch.facts { try saw(.fact(fact)) }
        }
    }

    private func carryOut(_ effects: Effects) throws {
        for (asked, answer) in effects.answers where asked == Ticket(ticket) {
            self.answer = answer
        }
        for upstream in effects.channels { try step(.capacity(upstream, 10)) }
        for push in effects.pushes {
            try step(.pushEnded(PushOutcome(push: push.id, result: .accepted, took: .zero)))
            // Only pushes for widgets are delivered here.
            guard push.surface == .widgets else { continue }
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

    private func carryOut(_ effects: [PhoneEffect]) throws {
        for effect in effects {
            switch effect {
            case .tokenIssued(let token, let purpose) where purpose == .widget:
                guard let name = TokenName("widget") else { continue }
                let view = try Self.view(#"{"token":"\#(token)"}"#)
                try tell(.putToken(name, try TokenRegistration(reading: view)))
            case .widgetFetch(let widget):
                try saw(.fetched(widget))
                try carryOut(phone.widgetFetched(widget.key, try fetched(widget.key), at: wall))
            case .widgetDrawn(let widget): try saw(.drawn(widget))
            case .tapped(let tap): try saw(.tapped(tap))
            default: break
            }
        }
    }

    private func fetched(_ key: Widget.Key) throws -> WidgetFetchOutcome {
        let subject = key.config.flatMap(Identifier.init).map(TimelineSubject.key)
        let entries: TimelineEntries
        do {
            // If the phone may not read entries, it gets none.
            entries = try core.entries(
                Self.id(key.kind), app: nil, subject,
                family: WidgetFamily(rawValue: key.family.rawValue),
                by: .device(Self.device.id, boundTo: nil), of: Self.tenant, now: now)
        } catch {
            return .failed
        }
        var writer = JSONWriter()
        var text = TimelineEntriesText(entries)
        while text.writePiece(to: &writer) {}
        return WidgetTimeline(writer.bytes, etag: nil).map(WidgetFetchOutcome.timeline) ?? .failed
    }
}
