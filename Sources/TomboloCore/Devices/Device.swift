package import TomboloJSON

/// A device in memory, or a broadcast channel, which pushes treat like a device.
struct Device: Sendable {
    struct Token: Hashable, Sendable {
        var value: PushToken
        /// Wall time at which the relay got the token. A 410 with an older timestamp does not
        /// apply.
        var registeredAt: Instant
        var observedAt: Instant
        /// True if the token is in the log. Nothing is sent to it before.
        var isOnRecord = true
    }

    struct Retired: Hashable, Sendable {
        var value: PushToken
        /// When the app had got the token from the system.
        var observedAt: Instant
        var refusal: TokenStanding.Refusal

        var at: Instant { refusal.at }
    }

    struct Heard: Sendable {
        var presence = Presence()
        var classifier: PresenceClassifier
        /// The last report that `presence` applied.
        var report: PresenceReport?
    }

    /// Maximum number of a device's tokens of unknown activities, and of its dead tokens.
    static let tokensMax = 256
    static let reportsMax = 64

    let key: DeviceKey
    let number: Int64
    private(set) var user: String?
    private var ownerKey: Int64 = -1
    /// The registration without the user. Devices with equal ones share it.
    private var shared: RegistrationPool.Shared
    var tokens = TokenTable()
    /// Wall time since when the device has its user: a start for that user waits no longer.
    var joinedAt = Instant.distantPast
    /// When the app last sent all its tokens. Tokens that it observed earlier and did not send are
    /// gone.
    var reconciledAt = Instant.distantPast
    var destinations: SlotList<Tables.Cards> = []
    /// Running activities whose audience names the device.
    var audience: SlotList<Tables.Activities> = []
    @Seldom private var rare: Rare?

    init(key: DeviceKey, number: Int64, registration: DeviceRegistration) {
        self.key = key
        self.number = number
        user = registration.user
        shared = Self.common(registration)
    }

    /// What a vacant slot of the table contains. Numbers of devices begin at 1.
    static let vacant = Device(
        key: DeviceKey(tenant: .main, id: TenantID.main.name), number: 0,
        registration: DeviceRegistration())

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

    /// The device's user with that user's newest key; nil if it never had a user. Set the
    /// registration before the owner.
    var owner: DeviceOwner? {
        get { rare?.owner ?? (ownerKey < 0 ? nil : DeviceOwner(user: user, key: ownerKey)) }
        set {
            ownerKey = newValue?.key ?? -1
            // The owner's user differs after a key without a user has registered the device again.
            let other = newValue.flatMap {
                isSameText($0.user, user) && $0.erasedThrough == 0 ? nil : $0
            }
            if rare?.owner != other { keep { $0.owner = other } }
        }
    }

    var common: DeviceRegistration { shared.value }

    private static func common(_ registration: DeviceRegistration) -> RegistrationPool.Shared {
        var common = registration
        common.user = nil
        return RegistrationPool.Shared(common)
    }

    /// Uses the pool's equal registration if there is one, to save memory.
    mutating func share(with pool: inout RegistrationPool) { shared = pool.shared(shared) }

    /// Removes a token that Apple has declared dead, and keeps it in `retired`.
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

    /// True if a request to delete a token means the token that the device has now: a late request
    /// may mean an older one. Also true if the device has no such token.
    func mayDelete(_ name: TokenName, _ token: TokenRegistration) -> Bool {
        guard let known = tokens[name] else { return true }
        return known.value == PushToken(token.token)
            && token.observedAt.map { $0 >= known.observedAt } ?? true
    }

    /// True if a registration of a token is outdated: it names the dead token and was observed
    /// before Apple declared it dead, or it was observed before the dead token was.
    ///
    /// - Parameter now: wall time. If the dead token was observed later than this, its time is
    ///   wrong and proves nothing.
    func isRetired(
        _ name: TokenName, _ value: String, observedAt: Instant, now: Instant
    ) -> Bool {
        guard let last = retired[name] else { return false }
        return observedAt < last.observedAt && last.observedAt <= now
            || last.value == PushToken(value) && observedAt <= last.at
    }

    /// Whether the app is in front, and since when. Without a report: in the background.
    var presence: Presence { heard?.presence ?? Presence() }

    /// The value of `heard` before the first report.
    var silence: Heard {
        Heard(classifier: PresenceClassifier(edge: registration.controlCenterEdge))
    }

    /// True for iOS 18 and later, which understand `input-push-token`.
    var asksForToken: Bool { systemMajor >= 18 }

    /// The major version of the system; 0 if it is unknown.
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
    /// Values that few devices have. A device without any of them stores only nil.
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

    /// Tokens that Apple declared dead, by name, until the app sends another one. A late
    /// registration must not bring a dead token back.
    var retired: [TokenName: Retired] {
        get { rare?.retired ?? [:] }
        set { if rare != nil || !newValue.isEmpty { keep { $0.retired = newValue } } }
    }
    /// True if `retired` is not empty. It copies nothing.
    var hasRetired: Bool { _rare.isThere && !_rare.value.retired.isEmpty }
    /// The newest report of each activity. Reports are not stored, so a restart loses them.
    var reports: [ActivityReference: PhoneReport] {
        get { rare?.reports ?? [:] }
        set { if rare != nil || !newValue.isEmpty { keep { $0.reports = newValue } } }
    }
    /// The device's widgets and controls for which a reload was requested.
    var surfaces: [TokenName: SurfaceSlot] {
        get { rare?.surfaces ?? [:] }
        set { if rare != nil || !newValue.isEmpty { keep { $0.surfaces = newValue } } }
    }
    /// The surfaces in the device's record, until start-up has restored them; then empty.
    var keptSurfaces: [TokenName: [Int64]] {
        get { rare?.keptSurfaces ?? [:] }
        set { if rare != nil || !newValue.isEmpty { keep { $0.keptSurfaces = newValue } } }
    }
    /// Start tokens by type that must not be used until the given time, because Apple answered that
    /// the relay sent too many pushes.
    var startBackOffs: [TokenName: Instant] {
        get { rare?.startBackOffs ?? [:] }
        set { if rare != nil || !newValue.isEmpty { keep { $0.startBackOffs = newValue } } }
    }
    /// What the device has reported about its app; nil if it has reported nothing.
    var heard: Heard? {
        get { rare?.heard }
        set { if rare != nil || newValue != nil { keep { $0.heard = newValue } } }
    }
    /// Set if the device was deleted, but stays until its cards have ended: at most until this wall
    /// time. It cannot be found by name then.
    var leavingUntil: Instant? {
        get { rare?.leavingUntil }
        set { if rare?.leavingUntil != newValue { keep { $0.leavingUntil = newValue } } }
    }
    /// When `os` or `app_version` last changed; nil if the change casts no doubt on a start token.
    var changedAt: Instant? {
        get { rare?.changedAt }
        set { if rare?.changedAt != newValue { keep { $0.changedAt = newValue } } }
    }
    /// Longest time that a deleted device stays, so that its cards can end.
    static let leavingMax = Span.minutes(10)
    var recipient: Recipient { channel == nil ? .device(key.id) : .channel(key.id) }
    /// The broadcast channel, if this entry of the table is one instead of a device.
    var channel: Channel? {
        get { rare?.channel }
        set { if rare != nil || newValue != nil { keep { $0.channel = newValue } } }
    }

    /// - Parameter surfaces: requested reloads and spent budgets of the device's widgets and
    ///   controls.
    func record(surfaces: [(name: String, parts: [Int64])] = []) -> Record {
        if let channel { return channel.record() }
        return Record(space: .device, number: number) { writer in
            writer.member("tenant", key.tenant.name.rawValue)
            writer.member("id", key.id.rawValue)
            writer.named("registration") { registration.write(into: &$0) }
            if let owner { writer.named("owner") { owner.write(into: &$0) } }
            if let leavingUntil { writer.member("leaving_until", leavingUntil.nanoseconds) }
            if joinedAt != .distantPast { writer.member("joined", joinedAt.nanoseconds) }
            if let changedAt { writer.member("changed", changedAt.nanoseconds) }
            writer.object("tokens") { writer in
                for (name, token) in tokens.all.sorted(by: { $0.name.text < $1.name.text }) {
                    writer.object(name.text) { writer in
                        writer.member("token", token.value.text)
                        writer.member("registered", token.registeredAt.nanoseconds)
                        writer.member("observed", token.observedAt.nanoseconds)
                    }
                }
            }
            if !surfaces.isEmpty {
                writer.object("surfaces") { writer in
                    for (name, parts) in surfaces {
                        writer.array(name, of: parts) { $0.integer($1) }
                    }
                }
            }
            if reconciledAt != .distantPast {
                writer.member("reconciled", reconciledAt.nanoseconds)
            }
            if !retired.isEmpty {
                writer.object("retired") { writer in
                    for (name, token) in retired.sorted(by: { $0.key.text < $1.key.text }) {
                        writer.object(name.text) { writer in
                            writer.member("token", token.value.text)
                            writer.member("at", token.at.nanoseconds)
                            writer.member("observed", token.observedAt.nanoseconds)
                            if let answer = token.refusal.answer { writer.member("answer", answer) }
                            if let environment = token.refusal.environment {
                                writer.member("environment", environment.name)
                            }
                        }
                    }
                }
            }
        }
    }

    /// Returns nil if the bytes are not a valid device. The caller then reports the record.
    init?(record bytes: [UInt8], number: Int64) {
        guard let document = try? JSONDocument(bytes) else { return nil }  // nil reports damage
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
        joinedAt = view["joined"]?.storedInstant ?? .distantPast
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
    /// Writes the JSON that `init(reading:)` reads.
    package func write(into writer: inout JSONWriter) {
        writer.object { writer in
            if let user { writer.member("user", user) }
            if let app { writer.member("app", app) }
            if let environment { writer.member("environment", environment.name) }
            if let os { writer.member("os", os) }
            if let appVersion { writer.member("app_version", appVersion) }
            if let timeZone { writer.member("time_zone", timeZone) }
            if let locale { writer.member("locale", locale) }
            writer.member("frequent_updates", frequentUpdates ?? false)
            if let activitiesEnabled { writer.member("activities_enabled", activitiesEnabled) }
            if let controlCenter { writer.member("control_center", controlCenter) }
            if let budgetClass { writer.member("budget_class", budgetClass.name) }
        }
    }
}
