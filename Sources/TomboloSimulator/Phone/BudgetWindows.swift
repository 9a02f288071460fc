/// A phone's budget of Live Activity pushes, as windows of time.
///
/// Apple publishes no budget. This model fits observations on real phones: each card has a window
/// of one hour with a number of pushes. A window's number may become negative; the sum over all
/// cards of the app decides. The budget survives a restart of the phone.
package struct BudgetWindows: Hashable, Sendable {
    /// How much the phone is used. It decides how many pushes a new window has.
    package enum Level: String, CaseIterable, Hashable, Sendable {
        /// The phone was not touched for an hour.
        case unused
        case standard
        /// The app declares frequent updates, and the user allows them.
        case frequent
    }

    /// Number of pushes in a new window for each level, from 1 to 1,000,000.
    package struct Levels: Hashable, Sendable {
        // The defaults are numbers observed on real phones.
        package var unused = 15
        package var standard = 15
        package var frequent = 240

        package subscript(_ level: Level) -> Int {
            switch level {
            case .unused: unused
            case .standard: standard
            case .frequent: frequent
            }
        }
    }

    private struct Window: Hashable {
        var since: WallInstant
        var full: Int
        var left: Int
    }

    /// How long a window lasts.
    package static let length: Duration = .seconds(3_600)

    /// The windows, by the card's number.
    private var windows: [Int: Window] = [:]

    package init() {}

    /// Counts a push at priority 10 to a card, before its payload is read.
    ///
    /// - Parameter full: the number of pushes, if a new window begins.
    package mutating func spend(card: Int, full: Int, at now: WallInstant) {
        windows = windows.filter { now < $0.value.since + Self.length }
        windows[card, default: Window(since: now, full: full, left: full)].left -= 1
    }

    /// Adds `count` pushes to each open window, because the user allows more.
    mutating func raise(by count: Int) {
        for card in windows.keys {
            windows[card]?.full += count
            windows[card]?.left += count
        }
    }

    /// Removes the window of a card that an `end` has ended.
    package mutating func end(card: Int) { windows[card] = nil }

    /// Pushes left for all cards together, which may be negative; nil if no window is open.
    package func left(at now: WallInstant) -> Int? {
        let open = open(at: now)
        return open.isEmpty ? nil : open.reduce(0) { $0 + $1.left }
    }

    /// Number of pushes with which the open windows began; nil if none is open.
    package func full(at now: WallInstant) -> Int? {
        let open = open(at: now)
        return open.isEmpty ? nil : open.reduce(0) { $0 + $1.full }
    }

    private func open(at now: WallInstant) -> [Window] {
        windows.values.filter { now < $0.since + Self.length }
    }

    /// True if the budget is used up, so that the phone holds every push of the app.
    package func isExhausted(at now: WallInstant) -> Bool {
        left(at: now).map { $0 <= 0 } ?? false
    }

    /// When the next open window ends.
    func nextEnd(after now: WallInstant) -> WallInstant? {
        windows.values.map { $0.since + Self.length }.filter { $0 > now }.min()
    }
}

/// Limit of starts by push within a sliding window; further starts are dropped. The limit is common
/// to all types of the app, and frequent updates do not change it.
package struct StartWindow: Hashable, Sendable {
    /// Maximum starts, and length of the window. People observed ten starts per hour, or per day.
    package struct Budget: Hashable, Sendable {
        package var count: Int
        package var window: Duration

        /// By default ten in an hour.
        package init(count: Int = 10, window: Duration = .seconds(3_600)) {
            (self.count, self.window) = (count, window)
        }
    }

    private var starts: [WallInstant] = []

    package init() {}

    /// Counts a start. Returns false if the limit is reached.
    package mutating func take(_ budget: Budget, at now: WallInstant) -> Bool {
        starts.removeAll { now >= $0 + budget.window }
        guard starts.count < budget.count else { return false }
        starts.append(now)
        return true
    }
}
