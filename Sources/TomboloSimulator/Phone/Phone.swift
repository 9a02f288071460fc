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
    package internal(set) var glass: PhoneGlass
    /// The URL with which the app was opened last by a tap.
    package internal(set) var opened: String?
    package internal(set) var openedPage: OpenedPage?
    package internal(set) var lastTap: PhoneTap?
    /// Pictures drawn since the phone was switched on.
    package internal(set) var drawnCount = 0

    /// What each living token is for.
    var purposes: [String: Purpose] = [:]
    var starts = StartWindow()
    var windows = BudgetWindows()
    package internal(set) var budgetLevels: BudgetWindows.Levels
    /// The newest push of the app that waits for the budget.
    var held: HeldPush?
    /// When the budget is looked at again for the held push.
    var budgetEnd = WallInstant.distantFuture
    /// When somebody last had the phone in hand.
    var usedAt: WallInstant
    /// The user's switch for frequent updates of this app.
    package internal(set) var isFrequentAllowed: Bool
    package internal(set) var frequentPrompt = FrequentPrompt.notAsked
    /// What goes wrong on it without a word.
    package internal(set) var trouble: PhoneTrouble
    package internal(set) var hasWatch: Bool
    var nextCardNumber = 1
    package internal(set) var board: WidgetBoard
    /// What the gallery of widgets shows, where somebody has opened it.
    package internal(set) var gallery: WidgetGallery?
    /// How often widgets and controls were reloaded by push, and what is left of their budgets.
    package internal(set) var reloads: [TokenPurpose: Int] = [:]
    var reloadBudgets: [TokenPurpose: TokenBucket] = [:]
    /// Of each channel the newest broadcast that APNs keeps for a phone it cannot reach.
    var storedBroadcasts: [String: AcceptedBroadcast] = [:]
    /// Of each channel the newest broadcast of low priority that came while the phone was locked.
    var lockedBroadcasts: [String: AcceptedBroadcast] = [:]
    /// APNs keeps one push per app for a phone it cannot reach.
    var stored: AcceptedPush?
    var issuedTokens: UInt64 = 0
    /// Whether the user has closed the app.
    package internal(set) var isTerminated = false
    /// Starts that the system handles later.
    var lateStarts: [LateStart] = []
    /// Tokens of cards that are gone, until Apple knows.
    var dyingTokens: [DyingToken] = []
    /// How often the app has been installed: each time it gets other push-to-start tokens.
    var installations = 1
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
        glass = PhoneGlass(edge: configuration.controlCenter)
        budgetLevels = configuration.budgetLevels
        isFrequentAllowed = configuration.frequentPushesEnabled
        trouble = configuration.trouble
        hasWatch = configuration.hasWatch
        board = WidgetBoard(configuration.widgetRules)
        usedAt = now
    }

    /// A push from APNs, whose gateway has accepted it.
    package mutating func receive(_ push: AcceptedPush, at now: WallInstant) -> [PhoneEffect] {
        var effects = advance(to: now)
        guard isOnline else { return effects + store(push, at: now) }
        if push.priority == 10 { takeLockedBroadcasts(at: now, &effects) }
        for arrived in arrive(push, at: now) { take(arrived, at: now, &effects) }
        return effects
    }

    /// - Parameter mayWait: false of a start that has waited.
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
        // What is held may be shown yet.
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
