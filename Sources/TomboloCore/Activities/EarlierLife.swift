import TomboloJSON

/// A life of an activity that a later start has ended or followed: what its cards end with if they
/// are heard of later. All cards of a life share one state.
///
/// The activity keeps the newest lives in its head, so that a restart knows them too.
struct EarlierLife: Sendable {
    /// How many lives an activity keeps, and how long after the start of the next one: as long as
    /// a card may be on a phone.
    static let countMax = 4
    static let keptFor = Span.hours(12)

    let incarnation: Int64
    let app: String
    var audience: Audience
    /// The life's last state, with its end if a producer ended it.
    let last: Projection

    func write(into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("life", incarnation)
            writer.member("version", last.version)
            writer.member("app", app)
            audience.write(into: &writer)
            last.write(into: &writer)
        }
    }
}

extension EarlierLife {
    /// Throws if a member is missing or has a value that no relay writes.
    init(stored view: JSONView) throws(StoredValueError) {
        incarnation = try view.stored("life", \.storedCount)
        app = try view.stored("app", \.string)
        audience = Audience(stored: view)
        last = try Projection(
            stored: view, version: try view.stored("version", or: 0, \.storedCount))
    }
}

extension Audience {
    /// The members of a head that say who it is. An audience of nobody has none.
    func write(into writer: inout JSONWriter) {
        switch self {
        case .none: break
        case .user(let user): writer.member("user", user)
        case .channel(let channel): writer.member("channel", channel.rawValue)
        case .devices(let devices):
            writer.array("devices", of: devices) { $0.string($1.rawValue) }
        }
    }

    init(stored view: JSONView) {
        if let user = view["user"]?.string {
            self = .user(user)
        } else if let channel = view["channel"]?.string.flatMap(Identifier.init) {
            self = .channel(channel)
        } else if let list = view["devices"] {
            self = .devices(list.elements.compactMap { $0.string.flatMap(Identifier.init) })
        } else {
            self = .none
        }
    }

    func names(_ device: Identifier) -> Bool {
        if case .devices(let ids) = self { ids.contains(device) } else { false }
    }

    /// The audience without a device; nil if nobody is left.
    func without(_ device: Identifier) -> Audience? {
        guard case .devices(let ids) = self else { return self }
        let left = ids.filter { $0 != device }
        return left.isEmpty ? nil : .devices(left)
    }
}

extension Activity {
    /// Remembers the present life, because a start follows it.
    ///
    /// - Parameter wall: the time of that start.
    mutating func rememberLife(at wall: Instant) {
        let kept = (lives ?? []).filter { $0.last.changedAt + EarlierLife.keptFor > wall }
        let life = EarlierLife(
            incarnation: incarnation, app: definition.app, audience: definition.audience,
            last: accepted)
        lives = kept.suffix(EarlierLife.countMax - 1) + [life]
    }

    /// True if an earlier life was for this device.
    func remembers(_ device: Identifier) -> Bool {
        hasLives && (lives ?? []).contains { $0.audience.names(device) }
    }

    /// Forgets lives that were for this device alone, and the device in the others.
    mutating func forgetLives(of device: Identifier) {
        guard remembers(device) else { return }
        lives = lives?.compactMap { life in
            life.audience.without(device).map { audience in
                var life = life
                life.audience = audience
                return life
            }
        }
    }
}
