package import TomboloJSON

/// A device in memory.
struct Device: Sendable {
    struct Token: Hashable, Sendable {
        var value: PushToken
        /// Wall time at which the relay learned it: what a 410's timestamp is compared with.
        var registeredAt: Instant
        var observedAt: Instant
        /// It is durable: before that nothing is sent to it.
        var isOnRecord = true
    }

    /// A token's end.
    struct Retired: Hashable, Sendable {
        var value: PushToken
        /// When the app had learned the token.
        var observedAt: Instant
        var refusal: TokenStanding.Refusal

        var at: Instant { refusal.at }
    }

    /// What a device told of its app.
    struct Heard: Sendable {
        var presence = Presence()
        var classifier: PresenceClassifier
        /// What `presence` heard last.
        var report: PresenceReport?
    }

    /// A device keeps no more tokens for activities that nobody knows.
    static let tokensMax = 256
    /// Nor more of its reports.
    static let reportsMax = 64

    let key: DeviceKey
    let number: Int64
    private var user: String?
    private var ownerKey: Int64 = -1
    /// Without its user.
    private var shared: RegistrationPool.Shared
    var tokens = TokenTable()
    /// When its app last told of all its tokens: what it saw before, and did not name, is gone.
    var reconciledAt = Instant.distantPast
    var destinations: SlotList<Tables.Cards> = []
    /// Running activities that name it.
    var audience: SlotList<Tables.Activities> = []
    @Seldom private var rare: Rare?

    /// One that registers for the first time.
    init(key: DeviceKey, number: Int64, registration: DeviceRegistration) {
        self.key = key
        self.number = number
        user = registration.user
        shared = Self.common(registration)
    }

    var registration: DeviceRegistration {
        get {
            var whole = shared.value
            whole.user = user
            return whole
        }
        set {
            user = newValue.user
            shared = Self.common(newValue)
        }
    }

    /// Whose it is, by the order of its keys; nil: nobody ever had it. It is set after the
    /// registration.
    var owner: DeviceOwner? {
        get { rare?.owner ?? (ownerKey < 0 ? nil : DeviceOwner(user: user, key: ownerKey)) }
        set {
            ownerKey = newValue?.key ?? -1
            // A key without a user has registered it anew.
            let other = newValue.flatMap { isSameText($0.user, user) ? nil : $0 }
            if rare?.owner != other { keep { $0.owner = other } }
        }
    }

    /// Its registration without its user.
    var common: DeviceRegistration { shared.value }

    private static func common(_ registration: DeviceRegistration) -> RegistrationPool.Shared {
        var common = registration
        common.user = nil
        return RegistrationPool.Shared(common)
    }

    /// Takes as little memory for its registration as may be.
    mutating func share(with pool: inout RegistrationPool) { shared = pool.shared(shared) }

    /// Apple has declared a token dead.
    mutating func retire(_ name: TokenName, _ refusal: TokenStanding.Refusal) {
        guard let token = tokens.remove(name) else { return }
        if retired.count >= Self.tokensMax,
            let oldest = retired.min(by: { $0.value.at < $1.value.at })
        {
            retired[oldest.key] = nil
        }
        retired[name] = Retired(
            value: token.value, observedAt: token.observedAt, refusal: refusal)
    }

    /// Whether a request to delete a token means the one that is here: the deletion of an old one
    /// comes late, and the app has registered another since. What is not here may go again.
    func mayDelete(_ name: TokenName, _ token: TokenRegistration) -> Bool {
        guard let known = tokens[name] else { return true }
        return known.value == PushToken(token.token)
            && token.observedAt.map { $0 >= known.observedAt } ?? true
    }

    /// Whether a registration tells of a token that was dead when the app last saw it alive, or of
    /// one from before it.
    ///
    /// - Parameter now: wall time; what was seen by a clock that was ahead of it tells nothing.
    func isRetired(
        _ name: TokenName, _ value: String, observedAt: Instant, now: Instant
    ) -> Bool {
        guard let last = retired[name] else { return false }
        return observedAt < last.observedAt && last.observedAt <= now
            || last.value == PushToken(value) && observedAt <= last.at
    }

    /// Whether the app is in front, and since when. Without a word an app is in the background.
    var presence: Presence { heard?.presence ?? Presence() }

    /// What is known before it says anything.
    var silence: Heard {
        Heard(classifier: PresenceClassifier(edge: registration.controlCenterEdge))
    }

    /// iOS 18 and later understand `input-push-token`.
    var asksForToken: Bool { systemMajor >= 18 }

    /// The number before the first dot of the system's version; 0 where it is not known.
    var systemMajor: Int {
        shared.value.os?.split(separator: ".").first.flatMap { Int($0) } ?? 0
    }

    var budgetClass: BudgetClass {
        switch shared.value.budgetClass {
        case .frequent? where shared.value.frequentUpdates != true: .standard
        case let budgetClass?: budgetClass
        case nil: .standard
        }
    }
}

extension Device {
    /// What few devices have; a device at rest has none of it.
    struct Rare: Sendable {
        var retired: [TokenName: Retired] = [:]
        var reports: [ActivityReference: PhoneReport] = [:]
        var surfaces: [TokenName: SurfaceSlot] = [:]
        var keptSurfaces: [TokenName: [Int64]] = [:]
        var heard: Heard?
        var channel: Channel?
        var startBackOffs: [TokenName: Instant] = [:]
        var owner: DeviceOwner?
        var leavingUntil: Instant?
        var changedAt: Instant?
    }

    private mutating func keep(_ change: (inout Rare) -> Void) {
        var own = rare ?? Rare()
        change(&own)
        rare = own
    }

    /// Tokens that Apple declared dead, by their name, until the app has another: a late
    /// registration does not bring one back.
    var retired: [TokenName: Retired] {
        get { rare?.retired ?? [:] }
        set { if rare != nil || !newValue.isEmpty { keep { $0.retired = newValue } } }
    }
    /// The newest of each activity; not kept across a restart.
    var reports: [ActivityReference: PhoneReport] {
        get { rare?.reports ?? [:] }
        set { if rare != nil || !newValue.isEmpty { keep { $0.reports = newValue } } }
    }
    /// Its widgets and controls, as far as a reload was wanted of them.
    var surfaces: [TokenName: SurfaceSlot] {
        get { rare?.surfaces ?? [:] }
        set { if rare != nil || !newValue.isEmpty { keep { $0.surfaces = newValue } } }
    }
    /// What the last relay left of them; empty once it is taken over.
    var keptSurfaces: [TokenName: [Int64]] {
        get { rare?.keptSurfaces ?? [:] }
        set { if rare != nil || !newValue.isEmpty { keep { $0.keptSurfaces = newValue } } }
    }
    /// Until when nothing goes to the start token of a type: Apple has had too many.
    var startBackOffs: [TokenName: Instant] {
        get { rare?.startBackOffs ?? [:] }
        set { if rare != nil || !newValue.isEmpty { keep { $0.startBackOffs = newValue } } }
    }
    /// What it said of its app; nil before it said anything.
    var heard: Heard? {
        get { rare?.heard }
        set { if rare != nil || newValue != nil { keep { $0.heard = newValue } } }
    }
    /// It was deleted, and stays until this wall time at most, for the ends of its cards alone. Its
    /// name does not find it.
    var leavingUntil: Instant? {
        get { rare?.leavingUntil }
        set { if rare?.leavingUntil != newValue { keep { $0.leavingUntil = newValue } } }
    }
    /// When it had another `os` or `app_version` last; nil where no start token is doubted for it.
    var changedAt: Instant? {
        get { rare?.changedAt }
        set { if rare?.changedAt != newValue { keep { $0.changedAt = newValue } } }
    }
    /// The ends of its cards have so much time.
    static let leavingMax = Span.minutes(10)
    /// What it is to those who push to it.
    var recipient: Recipient { channel == nil ? .device(key.id) : .channel(key.id) }
    /// It is no device but a broadcast channel: whoever listens.
    var channel: Channel? {
        get { rare?.channel }
        set { if rare != nil || newValue != nil { keep { $0.channel = newValue } } }
    }

    /// - Parameter surfaces: what its widgets and controls want and have spent.
    func record(surfaces: [(name: String, parts: [Int64])] = []) -> Record {
        if let channel { return channel.record() }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("tenant", key.tenant.name.rawValue)
        writer.member("id", key.id.rawValue)
        writer.name("registration")
        registration.write(into: &writer)
        if let owner {
            writer.name("owner")
            owner.write(into: &writer)
        }
        if let leavingUntil { writer.member("leaving_until", leavingUntil.nanoseconds) }
        if let changedAt { writer.member("changed", changedAt.nanoseconds) }
        writer.name("tokens")
        writer.beginObject()
        for (name, token) in tokens.all.sorted(by: { $0.name.text < $1.name.text }) {
            writer.name(name.text)
            writer.beginObject()
            writer.member("token", token.value.text)
            writer.member("registered", token.registeredAt.nanoseconds)
            writer.member("observed", token.observedAt.nanoseconds)
            writer.endObject()
        }
        writer.endObject()
        if !surfaces.isEmpty {
            writer.name("surfaces")
            writer.beginObject()
            for (name, parts) in surfaces {
                writer.name(name)
                writer.beginArray()
                for part in parts { writer.integer(part) }
                writer.endArray()
            }
            writer.endObject()
        }
        if reconciledAt != .distantPast {
            writer.member("reconciled", reconciledAt.nanoseconds)
        }
        if !retired.isEmpty {
            writer.name("retired")
            writer.beginObject()
            for (name, token) in retired.sorted(by: { $0.key.text < $1.key.text }) {
                writer.name(name.text)
                writer.beginObject()
                writer.member("token", token.value.text)
                writer.member("at", token.at.nanoseconds)
                writer.member("observed", token.observedAt.nanoseconds)
                if let answer = token.refusal.answer { writer.member("answer", answer) }
                if let environment = token.refusal.environment {
                    writer.member("environment", environment.name)
                }
                writer.endObject()
            }
            writer.endObject()
        }
        writer.endObject()
        return Record(space: .device, number: number, value: writer.bytes)
    }

    /// Nil where the bytes are no device: the caller reports and sets aside.
    init?(record bytes: [UInt8], number: Int64) {
        guard let document = try? JSONDocument(bytes) else { return nil }  // damage is the answer
        let view = document.root
        guard let tenant = view["tenant"]?.string.flatMap(Identifier.init),
            let id = view["id"]?.string.flatMap(Identifier.init),
            let fields = view["registration"],
            let registration = try? DeviceRegistration(reading: fields)  // as above
        else { return nil }
        key = DeviceKey(tenant: TenantID(tenant), id: id)
        self.number = number
        user = registration.user
        shared = Self.common(registration)
        leavingUntil = view["leaving_until"]?.storedInstant
        changedAt = view["changed"]?.storedInstant
        owner = view["owner"].flatMap { DeviceOwner(reading: $0) }
        if let instant = view["reconciled"]?.integer {
            reconciledAt = Instant(nanoseconds: instant)
        }
        if let retired = view["retired"] {
            for (text, token) in retired.members {
                guard let name = TokenName(text), let value = token["token"]?.string else {
                    continue
                }
                self.retired[name] = Retired(
                    value: PushToken(value),
                    observedAt: Instant(nanoseconds: token["observed"]?.integer ?? 0),
                    refusal: TokenStanding.Refusal(
                        at: Instant(nanoseconds: token["at"]?.integer ?? 0),
                        answer: token["answer"]?.string,
                        environment: token["environment"]?.string
                            .flatMap(APNsEnvironment.init(name:))))
            }
        }
        if let surfaces = view["surfaces"] {
            for (text, parts) in surfaces.members {
                guard let name = TokenName(text) else { continue }
                keptSurfaces[name] = parts.elements.compactMap(\.integer)
            }
        }
        guard let tokens = view["tokens"] else { return }
        for (text, token) in tokens.members {
            guard let name = TokenName(text), let value = token["token"]?.string else { continue }
            self.tokens[name] = Token(
                value: PushToken(value),
                registeredAt: Instant(nanoseconds: token["registered"]?.integer ?? 0),
                observedAt: Instant(nanoseconds: token["observed"]?.integer ?? 0))
        }
    }
}

extension DeviceRegistration {
    /// As `init(reading:)` reads it.
    package func write(into writer: inout JSONWriter) {
        writer.beginObject()
        if let user { writer.member("user", user) }
        if let app { writer.member("app", app) }
        if let environment { writer.member("environment", environment.name) }
        if let os { writer.member("os", os) }
        if let appVersion { writer.member("app_version", appVersion) }
        if let timeZone { writer.member("time_zone", timeZone) }
        if let locale { writer.member("locale", locale) }
        writer.member("frequent_updates", frequentUpdates ?? false)
        if let controlCenter { writer.member("control_center", controlCenter) }
        if let budgetClass { writer.member("budget_class", budgetClass.name) }
        writer.endObject()
    }
}
