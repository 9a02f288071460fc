/// A simulated iPhone with one app. Its inputs are pushes and time. Its outputs are changes of
/// cards, and pushes that a real phone would ignore silently.
package struct Phone: Sendable {
    package let configuration: PhoneConfiguration
    /// Cards that are not dismissed yet, oldest first.
    package internal(set) var cards: [ActivityCard] = []
    /// The newest pushes that changed nothing, oldest first.
    package private(set) var ignored: [IgnoredPush] = []
    package private(set) var ignoredCount = 0
    package private(set) var isOnline = true
    package internal(set) var isLocked = false
    package internal(set) var presence = AppPresence.background
    package internal(set) var glass: PhoneGlass
    /// The URL with which a tap last opened the app.
    package internal(set) var opened: String?
    package internal(set) var openedPage: OpenedPage?
    package internal(set) var lastTap: PhoneTap?
    /// Number of pictures drawn since the simulated phone was made.
    package internal(set) var drawnCount = 0

    /// Purpose of each valid token.
    var purposes: [String: Purpose] = [:]
    var starts = StartWindow()
    var windows = BudgetWindows()
    package internal(set) var budgetLevels: BudgetWindows.Levels
    /// The newest push of the app that waits for the budget.
    var held: HeldPush?
    /// When the phone checks next whether the held push fits the budget.
    var budgetEnd = WallInstant.distantFuture
    /// When the phone was last used.
    var usedAt: WallInstant
    /// The user's switch that allows this app frequent updates.
    package internal(set) var isFrequentAllowed: Bool
    package internal(set) var frequentPrompt = FrequentPrompt.notAsked
    /// Silent faults of the phone.
    package internal(set) var trouble: PhoneTrouble
    package internal(set) var hasWatch: Bool
    var nextCardNumber = 1
    package internal(set) var board: WidgetBoard
    /// The open widget gallery; nil if none was opened.
    package internal(set) var gallery: WidgetGallery?
    /// For each widget or control, how often it was reloaded by push.
    package internal(set) var reloads: [TokenPurpose: Int] = [:]
    var reloadBudgets: [TokenPurpose: TokenBucket] = [:]
    /// For each channel, the newest broadcast that APNs keeps while the phone is offline.
    var storedBroadcasts: [String: AcceptedBroadcast] = [:]
    /// For each channel, the newest broadcast of low priority that came while the phone was locked.
    var lockedBroadcasts: [String: AcceptedBroadcast] = [:]
    /// The push that APNs keeps for the app while the phone is offline. It keeps only one.
    var stored: AcceptedPush?
    var issuedTokens: UInt64 = 0
    /// True if the user has closed the app.
    package internal(set) var isTerminated = false
    /// Starts that the phone handles with a delay.
    var lateStarts: [LateStart] = []
    /// Tokens that are no longer in use but still accepted by Apple.
    var dyingTokens: [DyingToken] = []
    /// How often the app was installed. Each installation gets new push-to-start tokens.
    var installations = 1
    /// Pushes of low priority that wait until the phone is awake.
    var grouped: [AcceptedPush] = []
    var groupedUntil = WallInstant.distantFuture
    /// A push that the next push will overtake.
    var late: AcceptedPush?
    var lateUntil = WallInstant.distantFuture
    var arrivals = 0

    enum Purpose: Hashable, Sendable {
        case startType(String)
        case card(Int)
        /// All widgets, or one control.
        case surface(TokenPurpose)
    }

    /// Maximum number of ignored pushes that are kept. `ignoredCount` counts all.
    package static let ignoredPushesMax = 1_000
    /// Maximum number of cards at once, to limit memory. Apple says only "a variety of factors".
    package static let cardsMax = 1_000
    /// An update with a timestamp older than this is ignored. Apple does not document the age.
    package static let updateAgeMax: Duration = .seconds(60)
    /// An update with a timestamp further ahead is ignored.
    package static let timestampLeadMax: Duration = .seconds(8 * 3_600)

    /// A new phone: no cards, full budgets.
    package init(_ configuration: PhoneConfiguration, at now: WallInstant) {
        self.configuration = configuration
        glass = PhoneGlass(edge: configuration.controlCenter)
        budgetLevels = configuration.budgetLevels
        isFrequentAllowed = configuration.frequentPushesEnabled
        trouble = configuration.trouble
        hasWatch = configuration.hasWatch
        board = WidgetBoard(configuration.widgetRules)
        usedAt = now
    }

    /// Takes a push that the gateway has accepted.
    package mutating func receive(_ push: AcceptedPush, at now: WallInstant) -> [PhoneEffect] {
        var effects = advance(to: now)
        guard isOnline else { return effects + store(push, at: now) }
        if push.priority == 10 { takeLockedBroadcasts(at: now, &effects) }
        for arrived in arrive(push, at: now) { take(arrived, at: now, &effects) }
        return effects
    }

    /// - Parameter mayWait: false for a start that has already waited.
    mutating func take(
        _ push: AcceptedPush, mayWait: Bool = true, at now: WallInstant,
        _ effects: inout [PhoneEffect]
    ) {
        do throws(Ignored) {
            try apply(push, mayWait: mayWait, at: now, &effects)
        } catch {
            note(error, push, at: now, &effects)
        }
    }

    /// The phone loses or regains the network. When it is back, APNs delivers the stored push.
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

    /// Records an ignored push, and counts it for its card.
    mutating func note(
        _ reason: Ignored, _ push: AcceptedPush, at now: WallInstant, _ effects: inout [PhoneEffect]
    ) {
        // A held push may still be shown, so it is not counted.
        let count = reason.reason == .heldOverBudget ? 0 : 1
        var activityID: String?
        if case .card(let number) = purposes[push.token],
            let index = cards.firstIndex(where: { $0.number == number })
        {
            cards[index].ignoredCount += count
            activityID = cards[index].activityID
        }
        let entry = IgnoredPush(
            reason: reason.reason, detail: reason.detail, at: now, apnsID: push.apnsID,
            activityID: activityID)
        ignoredCount += count
        if ignored.count >= Self.ignoredPushesMax * 2 {
            ignored.removeFirst(Self.ignoredPushesMax)
        }
        ignored.append(entry)
        effects.append(.ignored(entry))
    }
}
