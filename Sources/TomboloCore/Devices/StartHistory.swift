import TomboloJSON

/// The history of a phone's starts, kept when a start token leaves its device. Under any device
/// name, the phone keeps its budget of starts, and a card that it has must not be started again.
struct StartHistory: Sendable {
    enum Key: Hashable, Sendable {
        /// The name of a deleted device.
        case device(DeviceKey)
        /// A hash of app and token. The tokens of a deleted device themselves are not stored.
        case token(TenantID, hash: UInt64)
    }

    /// A card that the phone has or had, or whose start was tried.
    struct Card: Sendable {
        var activity: Int64
        var incarnation: Int64
        var renewal: Int64
        var phase: Destination.Phase
        /// When the card began, in monotonic time; nil: it has not.
        var since: Instant?
        var alertsThrough: Int64
        var lastTimestamp: Int64
        var wasDismissed: Bool
        /// When the card's token bucket is full again.
        var bucketFullAt = Instant.distantPast
        /// True if the device then got another user: if the first user returns, a new card is
        /// started.
        var wasLeft = false
    }

    let number: Int64
    let key: Key
    /// When the phone's budget of starts is full again.
    var startsFullAt = Instant.distantPast
    /// When the bucket that the phone's cards share is full again.
    var bucketFullAt = Instant.distantPast
    /// When the budgets of the phone's widgets and controls are full again.
    var surfaces: [TokenName: Instant] = [:]
    var cards: [Card] = []
    /// After this time, the history is not needed.
    var until = Instant.distantPast

    /// Maximum number of a tenant's histories. Above it, the one with the earliest `until` is
    /// dropped.
    static let countMax = 10_000

    var tenant: TenantID {
        switch key {
        case .device(let key): key.tenant
        case .token(let tenant, _): tenant
        }
    }

    /// Adds what the phone has spent and its newest cards.
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

    /// Adds the budgets of widgets and controls.
    mutating func add(_ spent: [TokenName: Instant]) {
        surfaces.merge(spent) { max($0, $1) }
        until = max(until, spent.values.max() ?? .distantPast)
    }
}

extension StartHistory {
    /// The newest card of this incarnation that the phone may have. Cards in phase `waiting` do not
    /// count, because their start will be tried again.
    func lastCard(of activity: ActivityNumber, _ incarnation: Int64) -> Card? {
        cards.filter {
            $0.activity == activity.rawValue && $0.incarnation == incarnation
                && $0.phase != .waiting
        }.max { $0.renewal < $1.renewal }
    }

    /// This card, else the newest one of the incarnation, because older relays stored only that.
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
    func isSame(_ other: Self) -> Bool {
        activity == other.activity && incarnation == other.incarnation && renewal == other.renewal
    }

    /// The phase in which a destination continues, so that the card is not started twice.
    var resumedPhase: Destination.Phase {
        switch phase {
        case .starting, .startUnknown, .started, .live: .started
        case .waiting, .ended, .gone, .lapsed, .listening: phase
        }
    }
}

extension StartHistory {
    func record() -> Record {
        Record(space: .startHistory, number: number) { writer in
            writer.member("tenant", tenant.name.rawValue)
            switch key {
            case .device(let key): writer.member("device", key.id.rawValue)
            case .token(_, let hash): writer.member("token", Int64(bitPattern: hash))
            }
            writer.member("starts", startsFullAt.nanoseconds)
            writer.member("until", until.nanoseconds)
            if bucketFullAt != .distantPast { writer.member("bucket", bucketFullAt.nanoseconds) }
            if !surfaces.isEmpty {
                writer.object("surfaces") { writer in
                    for (name, full) in surfaces.sorted(by: { $0.key.text < $1.key.text }) {
                        writer.member(name.text, full.nanoseconds)
                    }
                }
            }
            writer.array("cards", of: cards) { writer, card in
                writer.array(of: card.parts) { $0.integer($1) }
            }
        }
    }

    /// Returns nil if the bytes are not a valid history. The caller then reports the record.
    init?(record bytes: [UInt8], number: Int64) {
        guard let view = (try? JSONDocument(bytes))?.root,  // nil reports damage
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
        // Older relays stored 8 values.
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
