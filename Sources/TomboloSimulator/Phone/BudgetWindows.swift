/// A phone's budget of Live Activity pushes as a table of windows.
///
/// Apple publishes no budget. This hypothesis fits observations on real phones: each card has a
/// window of one hour with a number of pushes. A window may go below zero; the sum over all cards
/// of the app decides. The budget survives a restart of the phone.
package struct BudgetWindows: Hashable, Sendable {
    /// How much the phone is used, which decides the pushes of a new window.
    package enum Level: String, CaseIterable, Hashable, Sendable {
        /// The phone was not touched for an hour.
        case unused
        case standard
        /// The app declares frequent updates, and the user allows them.
        case frequent
    }

    /// Pushes in a window for each level, from 1 to 1,000,000. A change applies to windows that
    /// begin later.
    package struct Levels: Hashable, Sendable {
        package var unused: Int
        package var standard: Int
        package var frequent: Int

        /// The defaults are the observed numbers.
        package init(unused: Int = 15, standard: Int = 15, frequent: Int = 240) {
            (self.unused, self.standard, self.frequent) = (unused, standard, frequent)
        }

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

    /// Windows by the number of the card.
    private var windows: [Int: Window] = [:]

    package init() {}

    /// Counts a push at priority 10 for a card, before its payload is read.
    ///
    /// - Parameter full: pushes of a window that begins now.
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

    /// Pushes left for all cards together, possibly below zero; nil if no window is open.
    package func left(at now: WallInstant) -> Int? {
        let open = open(at: now)
        return open.isEmpty ? nil : open.reduce(0) { $0 + $1.left }
    }

    /// Pushes that the open windows had at first; nil if none is open.
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

/// Limit of starts by push in a sliding window; further starts are dropped. All types of the app
/// share one limit. Frequent updates do not change it.
package struct StartWindow: Hashable, Sendable {
    /// Starts and length of the window. People observed ten starts in an hour or in a day.
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
