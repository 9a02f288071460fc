import TomboloCore
import TomboloJSON

/// What the log holds, and what follows from it by the simplest reading: told by the log's adapter
/// when something became durable, and compared with what is read back after each crash.
struct Reference {
    struct Model {
        var tenant: TenantID
        var id: String
        var version: Int64 = 0
        var incarnation: Int64 = 0
        /// The number in the state: unique for each event that sets it.
        var mark: Int64 = 0
        var stateVersion: Int64?
        /// Which play goes as a bundle that nobody's clock ends.
        var bundle: Int64?
        var hasEnded = false
        /// When it ended last.
        var endedAt: Instant?
        /// The last version of each incarnation, from the first on.
        var lastVersions: [Int64] = []
        var changedAt: Int64 = 0
        /// Its app starts its cards itself.
        var isAdopted = false
        /// Its cards are renewed.
        var isRenewed = false
        /// So long its starts may wait.
        var startWait = Span.zero
        /// Its cards are stale so long after its last event, in seconds.
        var staleAfter: Int64?
        /// Its frames go also while the app is in front.
        var showsAlways = false
        /// Of its last start: a user, or devices.
        var user: String?
        var devices: [String] = []
        /// Or a named channel.
        var channel: String?

        /// Whether a phone of its tenant shows it.
        func isFor(_ phone: Phone) -> Bool {
            user.map { phone.users.contains($0) }
                ?? phone.ids.contains { devices.contains($0.rawValue) }
        }

        mutating func follow(start view: JSONView) {
            incarnation += 1
            hasEnded = false
            endedAt = nil
            stateVersion = nil
            bundle = nil
            lastVersions.append(version)
            let audience = view["audience"]
            isAdopted = audience?["start"]?.string == "adopt"
            isRenewed = view["renew"]?.string == "always"
            startWait = view["start_wait"]?.string == "40s" ? .seconds(40) : .minutes(15)
            staleAfter = view["stale_after"]?.string == "10m" ? 600 : nil
            showsAlways = view["show_when"]?["frames"]?.string == "always"
            user = audience?["user"]?.string
            channel = audience?["channel"]?.string
            devices = audience?["devices"]?.elements.compactMap(\.string) ?? []
            if let device = audience?["device"]?.string { devices = [device] }
        }
    }

    struct Origin {
        var activity: ActivityNumber
        var version: Int64
        var incarnation: Int64
    }

    /// Whom each incarnation is for.
    struct Incarnation: Hashable {
        var activity: ActivityNumber
        var number: Int64
    }

    private struct Name: Hashable {
        var tenant: TenantID
        var id: String
    }

    private(set) var events: [RecordedEvent] = []
    private var named: [Name: ActivityNumber] = [:]
    /// How many each tenant has.
    private(set) var counts: [TenantID: Int64] = [:]
    private(set) var audiences: [Incarnation: Model] = [:]
    private(set) var models: [ActivityNumber: Model] = [:]
    /// Which event brought a mark.
    private(set) var origins: [Int64: Origin] = [:]
    /// How many frames each loop without end has, by the number of its play.
    private(set) var loops: [Int64: Int] = [:]
    /// Every flip-book, by the number of its play.
    private(set) var flips: [Int64: Flip] = [:]
    /// Which event brought an alert.
    private(set) var alerts: [Int64: Origin] = [:]
    /// When alerts are too old to ring, by wall time.
    private(set) var alertsExpire: [Int64: Instant] = [:]

    /// The newest of that name.
    func model(tenant: TenantID, id: String) -> (ActivityNumber, Model)? {
        guard let number = named[Name(tenant: tenant, id: id)] else { return nil }
        return models[number].map { (number, $0) }
    }

    /// Whom the incarnation is for that an event is of; as a model of its start.
    func audience(of origin: Origin) -> Model? {
        audiences[Incarnation(activity: origin.activity, number: origin.incarnation)]
    }

    func event(_ seq: Int64) -> RecordedEvent? {
        events.indices.contains(Int(seq) - 1) ? events[Int(seq) - 1] : nil
    }

    /// Takes an event; answers what is wrong with its place.
    mutating func append(_ event: NewEvent, seq: Int64, at nanoseconds: Int64) -> String? {
        var previous: Int64 = 0
        if let last = events.last(where: { $0.event.activity == event.activity }) {
            previous = last.seq
        }
        var wrong: String?
        if seq != Int64(events.count) + 1 { wrong = "sequence \(seq) after \(events.count)" }
        let known = models[event.activity]?.version ?? 0
        if event.expectedVersion != known {
            wrong =
                "version \(event.expectedVersion + 1) of activity "
                + "\(event.activity.rawValue) after \(known)"
        }
        counts[event.tenant, default: 0] += 1
        events.append(
            RecordedEvent(
                seq: seq, tenantSeq: counts[event.tenant], previous: previous, event: event))
        follow(event, at: nanoseconds)
        return wrong
    }

    /// Starts again from what a log has.
    mutating func rebuild(_ history: [RecordedEvent], at nanoseconds: Int64) -> String? {
        self = Reference()
        var wrong: String?
        for event in history {
            wrong = append(event.event, seq: event.seq, at: nanoseconds) ?? wrong
        }
        return wrong
    }

    private mutating func follow(loop flipbook: JSONView) {
        guard let frames = flipbook["frames"],
            let name = frames.elements.first(where: { _ in true })?.string,
            let play = name.split(separator: "-").first.flatMap({ Int64($0) })
        else { return }
        loops[play] = frames.count
    }

    /// Answers the number of an endless bundle's play.
    private mutating func follow(play view: JSONView, at instant: Instant) -> Int64? {
        guard let flip = Flip(view, at: instant),
            let play = flip.frames.first?.split(separator: "-").first.flatMap({ Int64($0) })
        else { return nil }
        flips[play] = flip
        return flip.isEndlessBundle ? play : nil
    }

    private mutating func follow(_ event: NewEvent, at nanoseconds: Int64) {
        let view = JSON(unchecked: event.body).document.root
        var model = models[event.activity] ?? Model(tenant: event.tenant, id: "")
        model.version = event.expectedVersion + 1
        model.changedAt = nanoseconds
        let state = view["state"] ?? view["replace"]
        if let id = state?["a"]?.string, model.id.isEmpty { model.id = id }
        var counts = true
        switch event.kind {
        case .start:
            model.follow(start: view)
            let incarnation = Incarnation(
                activity: event.activity, number: model.incarnation)
            audiences[incarnation] = model
        case .update:
            if let number = view["state_version"]?.integer {
                if let known = model.stateVersion, number < known { counts = false }
                if counts { model.stateVersion = number }
            }
        case .end:
            model.hasEnded = true
            model.endedAt = event.recordedAt
            let incarnation = Incarnation(
                activity: event.activity, number: model.incarnation)
            audiences[incarnation]?.endedAt = event.recordedAt
            model.bundle = nil
        case .play:
            counts = false
            model.bundle = follow(play: view, at: event.recordedAt)
            if let flipbook = view["flipbook"], flipbook["loop"]?.string == "forever" {
                follow(loop: flipbook)
            }
        case .stop:
            counts = false
            model.bundle = nil
        }
        if !model.lastVersions.isEmpty {
            model.lastVersions[model.lastVersions.count - 1] = model.version
        }
        let origin = Origin(
            activity: event.activity, version: model.version, incarnation: model.incarnation)
        if counts, let mark = state?["n"]?.integer {
            model.mark = mark
            origins[mark] = origin
        }
        if counts, let alert = view["alert"]?["title"]?.string.flatMap({ Int64($0) }) {
            alerts[alert] = origin
            let own = view["alert_ttl"]?.string == "20s" ? Span.seconds(20) : nil
            alertsExpire[alert] = event.recordedAt + (own ?? Alert.defaultTTL)
        }
        models[event.activity] = model
        if model.version == 1 {
            named[Name(tenant: model.tenant, id: model.id)] = event.activity
        }
    }
}
