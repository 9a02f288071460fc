package import TomboloJSON

extension Command.Content {
    /// Reads a producer's command.
    ///
    /// - Parameters:
    ///   - kind: the kind of command, from the path or from `do` of a line.
    ///   - envelope: members of the batch line that are not part of the command (`id`, `activity`,
    /// `do`).
    ///   - lenient: true for the log: accepts what older or newer relays accepted, and members that
    /// the relay itself has added.
    package init(
        kind: EventKind, _ view: JSONView, envelope: [String] = [], lenient: Bool = false
    ) throws(FieldErrors) {
        var reader = FieldReader(view, isOfLog: lenient)
        for name in envelope { reader.ignore(name) }
        let content: Self?
        switch kind {
        case .start: content = Start(reading: &reader).map(Self.start)
        case .update: content = Update(reading: &reader).map(Self.update)
        case .end: content = .end(End(reading: &reader))
        case .play: content = Clip(reading: &reader).map(Self.play)
        case .stop: content = .stop(clip: reader.string("clip"))
        }
        try reader.finish(allowingUnknown: lenient)
        guard let content else {
            throw FieldErrors([FieldError(pointer: "", message: "is incomplete")])
        }
        let history = lenient ? StateHistory(inBody: view) : nil
        self = history.map(content.keeping) ?? content
    }
}

/// Longest life of a card: 8 hours active and 4 more on the Lock Screen (Apple, "Displaying live
/// data with Live Activities").
let activityLifeMax = Span.hours(12)

extension Start {
    /// Maximum number of devices in an audience, so that the work for one event is bounded.
    package static let devicesMax = 1_000

    /// A start that has waited longer for a device is not sent any more, unless `start_wait` says
    /// otherwise.
    static let startWaitDefault = Span.minutes(15)

    init?(reading reader: inout FieldReader) {
        let type = reader.string("type")
        if type == nil || type == "" {
            reader.fail("type", "is missing: the name of the app's ActivityAttributes type")
        }
        app = reader.string("app")
        let state = reader.object("state")
        if state == nil { reader.fail("state", "is missing: the content state, a JSON object") }
        attributes = reader.object("attributes")?.json ?? .emptyObject
        (audience, route) = Self.audience(&reader)
        alert = Alert.reading(&reader)
        relevance = reader.double("relevance")
        staleAfter = reader.span("stale_after", in: .seconds(1)...activityLifeMax)
        urgency = reader.choice("urgency", Urgency.choices) ?? .normal
        alertTTL =
            reader.span("alert_ttl", in: .seconds(1)...activityLifeMax) ?? Alert.defaultTTL
        startWait = Self.startWait(&reader)
        endAfter = Self.endAfter(&reader)
        onUnknownStart = reader.choice(
            "on_unknown_start", [("give_up", .giveUp), ("resend", .resend)])
        onTokenGone = reader.choice("on_token_gone", TokenGonePolicy.choices)
        renew = reader.choice("renew", RenewalPolicy.choices)
        framesShowWhen = FramesShowWhen.reading(&reader)
        guard let type, let state, type != "" else { return nil }
        self.type = type
        self.state = state.json
    }

    static func startWait(_ reader: inout FieldReader) -> Span? {
        reader.span("start_wait", in: .seconds(1)...activityLifeMax)
    }

    static func endAfter(_ reader: inout FieldReader) -> Span? {
        reader.span("end_after", in: .seconds(1)...activityLifeMax)
    }

    private static let audienceShapes =
        #"{"device":"phone-1"}, {"devices":["phone-1","phone-2"]}, {"user":"u1"} or "#
        + #"{"channel":"news"}"#

    private static func audience(_ reader: inout FieldReader) -> (Audience, StartRoute) {
        guard let view = reader.object("audience", like: Self.audienceShapes) else {
            return (.none, .unspecified)
        }
        var inner = reader.inside(view, "audience")
        let route =
            inner.choice(
                "start",
                [("auto", .auto), ("push", .push), ("adopt", .adopt), ("channel", .channel)])
            ?? StartRoute.unspecified
        var ways: [Audience] = []
        if let device = inner.identifier("device") {
            ways.append(.devices([device]))
        }
        if let list = inner.value("devices") {
            ways.append(.devices(devices(list, &inner)))
        }
        if let user = inner.string("user") {
            ways.append(.user(user))
            if user.isEmpty { inner.fail("user", "must not be empty") }
        }
        if let channel = inner.identifier("channel") {
            ways.append(.channel(channel))
        }
        inner.requireOne(
            of: ["device", "devices", "user", "channel"],
            "give exactly one member: " + Self.audienceShapes)
        do { try inner.finish() } catch { reader.adopt(error) }
        return (ways.last ?? .none, route)
    }

    static func devices(_ list: JSONView, _ reader: inout FieldReader) -> [Identifier] {
        guard list.kind == .array, (1...devicesMax).contains(list.count) else {
            reader.fail("devices", "must be an array of 1 to \(devicesMax) device ids")
            return []
        }
        var seen: Set<Identifier> = []
        var devices: [Identifier] = []
        devices.reserveCapacity(list.count)
        for element in list.elements {
            guard let id = element.string.flatMap(Identifier.init) else {
                reader.fail("devices", "every device id is 1 to 128 letters, digits or . _ : @ -")
                return []
            }
            if seen.insert(id).inserted { devices.append(id) }
        }
        return devices
    }
}

extension Update.Change {
    /// Reads `state` and `replace`, of which a request gives one at most.
    init(reading reader: inout FieldReader) {
        let state = reader.object("state")
        let replacement = reader.object("replace")
        if state != nil && replacement != nil {
            reader.fail("replace", "give state (a merge patch) or replace (the whole), not both")
        }
        self = replacement.map { .replace($0.json) } ?? state.map { .merge($0.json) } ?? Self.none
    }
}

extension Update {
    private static let changing = ["state", "replace", "alert", "relevance", "stale_after"]

    init?(reading reader: inout FieldReader) {
        change = Change(reading: &reader)
        alert = Alert.reading(&reader)
        relevance = reader.double("relevance")
        staleAfter = reader.span("stale_after", in: .seconds(1)...activityLifeMax)
        urgency = reader.choice("urgency", Urgency.choices) ?? .normal
        alertTTL =
            reader.span("alert_ttl", in: .seconds(1)...activityLifeMax) ?? Alert.defaultTTL
        stateVersion = reader.integer("state_version", in: 0...Int64.max)
        if reader.isObject, !Self.changing.contains(where: reader.has) {
            reader.fail(
                "state", "nothing to change: give state, replace, alert, relevance or stale_after")
        }
    }
}

extension End {
    init(reading reader: inout FieldReader) {
        change = Update.Change(reading: &reader)
        alert = Alert.reading(&reader)
        guard let text = reader.string("dismiss") else { return }
        if let dismissal = Dismissal(text: text) {
            self.dismissal = dismissal
        } else {
            reader.fail(
                "dismiss", "must be \"now\", \"default\", \"after 15m\" or a time as in RFC 3339")
        }
    }
}
