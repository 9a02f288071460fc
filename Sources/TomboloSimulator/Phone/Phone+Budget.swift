/// Pushes beyond the budget. The phone holds the newest one, and shows it when the phone is used or
/// a window ends.
extension Phone {
    /// A push that waits for the budget, and its card's number.
    struct HeldPush: Sendable {
        var push: AcceptedPush
        var card: Int
    }

    /// Level for a window that begins now.
    package func budgetLevel(at now: WallInstant) -> BudgetWindows.Level {
        guard isInUse || now < usedAt + Self.unusedAfter else { return .unused }
        let isFrequent = configuration.budgetClass == .frequent && isFrequentAllowed
        return isFrequent ? .frequent : .standard
    }

    /// A phone that was not touched for this time counts as unused.
    static let unusedAfter: Duration = .seconds(3_600)

    private var isInUse: Bool { presence != .background }

    /// Counts a push against the budget, before its payload is read. Throws if it is held or
    /// dropped.
    mutating func spend(
        _ push: AcceptedPush, on index: Int, at now: WallInstant, _ effects: inout [PhoneEffect]
    ) throws(Ignored) {
        guard configuration.budgetClass != .lab else { return }
        if configuration.budgetModel == .bucket {
            guard push.priority < 10 || cards[index].budget?.take(at: now) != false else {
                throw Ignored(.updateBudgetExceeded)
            }
            return
        }
        let number = cards[index].number
        if push.priority == 10 {
            let level = budgetLevel(at: now)
            windows.spend(card: number, full: budgetLevels[level], at: now)
            askForFrequentUpdates(at: now)
        }
        // While the phone is in use, nothing is held.
        guard windows.isExhausted(at: now), !isInUse else { return }
        if let replaced = held {
            note(Ignored(.replacedOverBudget), replaced.push, at: now, &effects)
        }
        held = HeldPush(push: push, card: number)
        budgetEnd = windows.nextEnd(after: now) ?? now
        throw Ignored(.heldOverBudget, "\(windows.left(at: now) ?? 0) left")
    }

    /// When the phone checks next whether the held push can be applied; nil if none is held.
    var heldOverBudgetUntil: WallInstant? { held == nil ? nil : budgetEnd }

    /// Applies the held push if there is budget again.
    mutating func releaseHeld(at now: WallInstant, _ effects: inout [PhoneEffect]) {
        guard held != nil else { return }
        if windows.isExhausted(at: now) {
            budgetEnd = windows.nextEnd(after: now) ?? now
        } else {
            handleHeld(at: now, &effects)
        }
    }

    /// The user uses the phone, so the held push is applied at once.
    mutating func use(at now: WallInstant, _ effects: inout [PhoneEffect]) {
        usedAt = now
        handleHeld(at: now, &effects)
    }

    private mutating func handleHeld(at now: WallInstant, _ effects: inout [PhoneEffect]) {
        guard let waited = held else { return }
        held = nil
        do throws(Ignored) {
            guard let index = cards.firstIndex(where: { $0.number == waited.card }) else {
                throw Ignored(.activityEnded, "dismissed")
            }
            try change(index, by: waited.push, at: now, &effects)
        } catch {
            note(error, waited.push, at: now, &effects)
        }
    }

    /// Changes the numbers of the levels at run time. On real phones Apple sets these numbers, and
    /// they change.
    package mutating func setBudgetLevels(_ levels: BudgetWindows.Levels) { budgetLevels = levels }

    // MARK: - Frequent updates

    /// If the budget is negative and the app declares frequent updates, the system asks the user
    /// whether the app may update more often.
    private mutating func askForFrequentUpdates(at now: WallInstant) {
        guard configuration.budgetClass == .frequent, !isFrequentAllowed,
            frequentPrompt == .notAsked,
            budgetLevel(at: now) == .standard, windows.left(at: now) ?? 0 < 0
        else { return }
        frequentPrompt = .asks
    }

    /// State of the question whether the app may update more often.
    package enum FrequentPrompt: String, Hashable, Sendable {
        case notAsked = "not_asked"
        case asks
        case answered
    }

    /// The user answers the question. Has no effect if it is not shown.
    package mutating func answerPrompt(allow: Bool, at now: WallInstant) -> [PhoneEffect] {
        var effects = advance(to: now)
        guard frequentPrompt == .asks else { return effects }
        frequentPrompt = .answered
        use(at: now, &effects)
        guard allow else { return effects }
        isFrequentAllowed = true
        windows.raise(by: max(0, budgetLevels[.frequent] - budgetLevels[.standard]))
        return effects + [.frequentUpdatesAllowed(true)]
    }
}
