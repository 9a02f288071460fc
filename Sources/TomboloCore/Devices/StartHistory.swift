import TomboloJSON

/// What a phone has had through a push-to-start token, kept when the token leaves its device: the
/// phone's budget for starts is the phone's, whatever the device is called, and a card that it has
/// is not started there again.
struct StartHistory: Sendable {
    /// What it is found by.
    enum Key: Hashable, Sendable {
        /// Of a device that was deleted.
        case device(DeviceKey)
        /// Of a token, by a hash of app and value: of a device that was deleted no token stays.
        case token(TenantID, hash: UInt64)
    }

    /// A card that the phone has, or had.
    struct Card: Sendable {
        var activity: Int64
        var incarnation: Int64
        var renewal: Int64
        var phase: Destination.Phase
        var since: Instant?
        var alertsThrough: Int64
        var lastTimestamp: Int64
        var wasDismissed: Bool
        /// When the card's own bucket is full again.
        var bucketFullAt = Instant.distantPast
        /// It was of a user who had the device no more: who comes back gets a new one.
        var wasLeft = false
    }

    let number: Int64
    let key: Key
    /// When the budget for starts is full again.
    var startsFullAt = Instant.distantPast
    /// The same of what its cards may be sent together.
    var bucketFullAt = Instant.distantPast
    /// The same of its widgets and controls.
    var surfaces: [TokenName: Instant] = [:]
    var cards: [Card] = []
    /// Nobody needs it after this.
    var until = Instant.distantPast

    /// So many of a tenant are kept; beyond them goes the one that is needed for the shortest time.
    static let countMax = 10_000

    var tenant: TenantID {
        switch key {
        case .device(let key): key.tenant
        case .token(let tenant, _): tenant
        }
    }

    init(number: Int64, key: Key) {
        self.number = number
        self.key = key
    }

    /// Takes in what the phone has had since.
    mutating func add(_ spent: DeviceBudget, _ news: [Card], now: Instant) {
        startsFullAt = max(startsFullAt, spent.starts.fullAt)
        bucketFullAt = max(bucketFullAt, spent.bucket.fullAt)
        for card in news {
            cards.removeAll { $0.isSame(card) }
            cards.append(card)
        }
        if cards.count > Device.tokensMax { cards.removeFirst(cards.count - Device.tokensMax) }
        until = max(
            until, startsFullAt, bucketFullAt, news.isEmpty ? .distantPast : now + activityLifeMax)
    }

    /// Takes in what its widgets and controls have spent.
    mutating func add(_ spent: [TokenName: Instant]) {
        surfaces.merge(spent) { max($0, $1) }
        until = max(until, spent.values.max() ?? .distantPast)
    }
}

extension StartHistory {
    /// The last card that the phone may have of one life of an activity. What is about to be tried
    /// once more is none: all that stays of it is what the tries before have spent.
    func lastCard(of activity: ActivityNumber, _ incarnation: Int64) -> Card? {
        cards.filter {
            $0.activity == activity.rawValue && $0.incarnation == incarnation
                && $0.phase != .waiting
        }.max { $0.renewal < $1.renewal }
    }

    /// That very card, or the last one where an older relay kept no other.
    func card(of activity: ActivityNumber, _ incarnation: Int64, _ renewal: Int64) -> Card? {
        exactCard(of: activity, incarnation, renewal) ?? lastCard(of: activity, incarnation)
    }

    func exactCard(of activity: ActivityNumber, _ incarnation: Int64, _ renewal: Int64) -> Card? {
        cards.first {
            $0.activity == activity.rawValue && $0.incarnation == incarnation
                && $0.renewal == renewal
        }
    }
}

extension StartHistory.Card {
    /// Whether both are the same card.
    func isSame(_ other: Self) -> Bool {
        activity == other.activity && incarnation == other.incarnation && renewal == other.renewal
    }

    /// How a destination goes on from it: what was begun is not begun again.
    var resumedPhase: Destination.Phase {
        switch phase {
        case .starting, .startUnknown, .started, .live: .started
        case .waiting, .ended, .gone, .lapsed, .listening: phase
        }
    }
}

extension StartHistory {
    func record() -> Record {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("tenant", tenant.name.rawValue)
        switch key {
        case .device(let key): writer.member("device", key.id.rawValue)
        case .token(_, let hash): writer.member("token", Int64(bitPattern: hash))
        }
        writer.member("starts", startsFullAt.nanoseconds)
        writer.member("until", until.nanoseconds)
        if bucketFullAt != .distantPast { writer.member("bucket", bucketFullAt.nanoseconds) }
        if !surfaces.isEmpty {
            writer.name("surfaces")
            writer.beginObject()
            for (name, full) in surfaces.sorted(by: { $0.key.text < $1.key.text }) {
                writer.member(name.text, full.nanoseconds)
            }
            writer.endObject()
        }
        writer.name("cards")
        writer.beginArray()
        for card in cards {
            writer.beginArray()
            for part in card.parts { writer.integer(part) }
            writer.endArray()
        }
        writer.endArray()
        writer.endObject()
        return Record(space: .startHistory, number: number, value: writer.bytes)
    }

    /// Nil where the bytes are no history: the caller reports and sets aside.
    init?(record bytes: [UInt8], number: Int64) {
        guard let view = (try? JSONDocument(bytes))?.root,  // damage is the answer
            let tenant = view["tenant"]?.string.flatMap(Identifier.init).map(TenantID.init),
            let starts = view["starts"]?.integer, let until = view["until"]?.integer
        else { return nil }
        if let device = view["device"]?.string.flatMap(Identifier.init) {
            key = .device(DeviceKey(tenant: tenant, id: device))
        } else if let hash = view["token"]?.integer {
            key = .token(tenant, hash: UInt64(bitPattern: hash))
        } else {
            return nil
        }
        self.number = number
        startsFullAt = Instant(nanoseconds: starts)
        self.until = Instant(nanoseconds: until)
        bucketFullAt = view["bucket"]?.integer.map(Instant.init(nanoseconds:)) ?? .distantPast
        for (text, full) in view["surfaces"]?.members.map({ ($0, $1.integer) }) ?? [] {
            guard let name = TokenName(text), let full else { continue }
            surfaces[name] = Instant(nanoseconds: full)
        }
        cards = view["cards"]?.elements.compactMap { Card($0.elements.compactMap(\.integer)) } ?? []
    }
}

extension StartHistory.Card {
    fileprivate var parts: [Int64] {
        [
            activity, incarnation, renewal, Int64(phase.rawValue),
            (since ?? .distantPast).nanoseconds, alertsThrough, lastTimestamp,
            wasDismissed ? 1 : 0, bucketFullAt.nanoseconds, wasLeft ? 1 : 0,
        ]
    }

    fileprivate init?(_ parts: [Int64]) {
        // An older relay kept less.
        guard parts.count == 8 || parts.count == 10,
            let phase = Destination.Phase(rawValue: UInt8(clamping: parts[3]))
        else { return nil }
        let since = Instant(nanoseconds: parts[4])
        self.init(
            activity: parts[0], incarnation: parts[1], renewal: parts[2], phase: phase,
            since: since == .distantPast ? nil : since, alertsThrough: parts[5],
            lastTimestamp: parts[6], wasDismissed: parts[7] != 0,
            bucketFullAt: parts.count == 10 ? Instant(nanoseconds: parts[8]) : .distantPast,
            wasLeft: parts.count == 10 && parts[9] != 0)
    }
}
