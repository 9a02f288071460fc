import TomboloCrypto
import TomboloJSON

/// One iPhone with one app, as ActivityKit runs it: pushes and time go in, what the islands show
/// and what was silently ignored come out.
///
/// A pure machine on virtual time. It applies what Apple documents (*Starting and updating Live
/// Activities with ActivityKit push notifications*, *Activity.update*) and what developers found
/// out: most of it is silent on a real phone.
package struct Phone: Sendable {
    package let configuration: PhoneConfiguration
    /// The cards not dismissed yet, oldest first.
    package internal(set) var cards: [ActivityCard] = []
    /// The newest pushes that changed nothing, oldest first.
    package private(set) var ignored: [IgnoredPush] = []
    package private(set) var ignoredCount = 0
    package private(set) var isOnline = true
    package internal(set) var isLocked = false
    package internal(set) var presence = AppPresence.background
    /// How often an island or a card changed what it shows, since the phone was switched on.
    package internal(set) var drawnCount = 0

    /// What each living token is for.
    var purposes: [String: Purpose] = [:]
    var startBudget: TokenBucket
    var nextCardNumber = 1
    /// How often widgets and controls were reloaded by push, and what is left of their budgets.
    package internal(set) var reloads: [TokenPurpose: Int] = [:]
    var reloadBudgets: [TokenPurpose: TokenBucket] = [:]
    /// Of each channel the newest broadcast that APNs keeps for a phone it cannot reach.
    var storedBroadcasts: [String: AcceptedBroadcast] = [:]
    /// APNs keeps one push per app for a phone it cannot reach.
    private var stored: AcceptedPush?
    private var issuedTokens: UInt64 = 0
    /// Whether the user has closed the app.
    package internal(set) var isTerminated = false
    /// Pushes of low priority that wait for the phone to be awake.
    var grouped: [AcceptedPush] = []
    var groupedUntil = WallInstant.distantFuture
    /// A push that the next one overtakes.
    var late: AcceptedPush?
    var lateUntil = WallInstant.distantFuture
    var arrivals = 0

    enum Purpose: Hashable, Sendable {
        case startType(String)
        case card(Int)
        /// Widgets, or a control.
        case surface(TokenPurpose)
    }

    /// Ignored pushes kept for reading; the count goes on.
    package static let ignoredPushesMax = 1_000
    /// Cards at once. Apple says "a variety of factors"; this bounds memory.
    package static let cardsMax = 1_000
    /// An update older than this is in the past. Apple does not say how old that is.
    package static let updateAgeMax: Duration = .seconds(60)
    /// An update further ahead than this is ignored.
    package static let timestampLeadMax: Duration = .seconds(8 * 3_600)

    /// A phone that has just been unpacked: no card, full budgets.
    package init(_ configuration: PhoneConfiguration, at now: WallInstant) {
        self.configuration = configuration
        startBudget = TokenBucket(
            depth: configuration.startBudget.depth, perHour: configuration.startBudget.perHour,
            at: now)
    }

    /// The app is launched for the first time: one push-to-start token per type, one for the
    /// widgets, one per control.
    package mutating func boot() -> [PhoneEffect] {
        var effects = configuration.attributesTypes.map { type in
            issue(type, .startType(type), .start(attributesType: type))
        }
        var surfaces = [TokenPurpose.widget]
        if configuration.osMajor >= 18 {
            surfaces += configuration.controlKinds.map { .control(kind: $0) }
        }
        for surface in surfaces {
            effects.append(issue(surface.name ?? "", .surface(surface), surface))
        }
        return effects
    }

    /// A token that outlives a restart.
    private mutating func issue(
        _ name: String, _ purpose: Purpose, _ told: TokenPurpose
    ) -> PhoneEffect {
        let token = Self.token(
            configuration.startTokenSeed + [UInt8]("\(configuration.name) \(name)".utf8))
        purposes[token] = purpose
        return .tokenIssued(token, told)
    }

    /// A push from APNs, whose gateway has accepted it.
    package mutating func receive(_ push: AcceptedPush, at now: WallInstant) -> [PhoneEffect] {
        var effects = advance(to: now)
        guard isOnline else { return effects + store(push, at: now) }
        for arrived in arrive(push, at: now) { take(arrived, at: now, &effects) }
        return effects
    }

    mutating func take(
        _ push: AcceptedPush, at now: WallInstant, _ effects: inout [PhoneEffect]
    ) {
        do throws(Ignored) {
            try apply(push, at: now, &effects)
        } catch {
            note(error, push, at: now, &effects)
        }
    }

    /// Loses or finds the network; on its return APNs delivers the one push it kept.
    package mutating func setOnline(_ online: Bool, at now: WallInstant) -> [PhoneEffect] {
        guard online != isOnline else { return [] }
        isOnline = online
        guard online else { return [] }
        var effects = takeStoredBroadcasts(at: now)
        guard let push = stored else { return effects }
        stored = nil
        guard push.expiration.isStorable(at: now, acceptedAt: push.acceptedAt) else {
            return effects + refuse(push, Ignored(.expiredWhileOffline), at: now)
        }
        effects += receive(push, at: now)
        return effects
    }

    private mutating func store(_ push: AcceptedPush, at now: WallInstant) -> [PhoneEffect] {
        guard push.expiration.isStorable(at: now, acceptedAt: push.acceptedAt) else {
            return refuse(push, Ignored(.expiredWhileOffline, "not stored"), at: now)
        }
        let replaced = stored
        stored = push
        guard let replaced else { return [] }
        return refuse(replaced, Ignored(.replacedWhileOffline), at: now)
    }

    private mutating func refuse(
        _ push: AcceptedPush, _ ignored: Ignored, at now: WallInstant
    ) -> [PhoneEffect] {
        var effects: [PhoneEffect] = []
        note(ignored, push, at: now, &effects)
        return effects
    }

    /// Writes down what changed nothing, and counts it at its card.
    mutating func note(
        _ reason: Ignored, _ push: AcceptedPush, at now: WallInstant, _ effects: inout [PhoneEffect]
    ) {
        var activityID: String?
        if case .card(let number) = purposes[push.token],
            let index = cards.firstIndex(where: { $0.number == number })
        {
            cards[index].ignoredCount += 1
            activityID = cards[index].activityID
        }
        let entry = IgnoredPush(
            reason: reason.reason, detail: reason.detail, at: now, apnsID: push.apnsID,
            activityID: activityID)
        ignoredCount += 1
        if ignored.count >= Self.ignoredPushesMax * 2 {
            ignored.removeFirst(Self.ignoredPushesMax)
        }
        ignored.append(entry)
        effects.append(.ignored(entry))
    }

    /// Issues the next update token: 64 bytes, longer than an app's own token, as on real phones.
    mutating func makeUpdateToken() -> String {
        issuedTokens += 1
        return Self.token(
            configuration.updateTokenSeed + [UInt8]("\(configuration.name) \(issuedTokens)".utf8))
    }

    private static func token(_ seed: [UInt8]) -> String {
        Hex.encode(SHA256.digest(seed + [0]) + SHA256.digest(seed + [1]))
    }
}
