/// A phone's budget of Live Activity pushes as a table of windows.
///
/// Apple publishes no budget. This is a hypothesis that fits what people saw on real phones: each
/// card has a window of an hour with so many pushes, a window may go below zero, and the sum over
/// all cards of the app decides. It survives a restart of the phone.
package struct BudgetWindows: Hashable, Sendable {
    /// How much the phone is used, which decides how many pushes a new window has.
    package enum Level: String, CaseIterable, Hashable, Sendable {
        /// Nobody has touched the phone for an hour.
        case unused
        case standard
        /// The app declares frequent updates, and the user allows them.
        case frequent
    }

    /// Pushes in a window, by level. From 1 to 1,000,000; a change counts for windows that begin
    /// later.
    package struct Levels: Hashable, Sendable {
        package var unused: Int
        package var standard: Int
        package var frequent: Int

        /// The numbers that people saw.
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

    /// By the number of the card.
    private var windows: [Int: Window] = [:]

    package init() {}

    /// A push at priority 10 for a card. It counts before anybody reads its payload.
    ///
    /// - Parameter full: what a window has that begins now.
    package mutating func spend(card: Int, full: Int, at now: WallInstant) {
        windows = windows.filter { now < $0.value.since + Self.length }
        windows[card, default: Window(since: now, full: full, left: full)].left -= 1
    }

    /// The user allows more: each open window gets so many.
    mutating func raise(by count: Int) {
        for card in windows.keys {
            windows[card]?.full += count
            windows[card]?.left += count
        }
    }

    /// An `end` was read: its card's window is gone.
    package mutating func end(card: Int) { windows[card] = nil }

    /// What is left for all cards together, which may be below zero; nil where no window is open.
    package func left(at now: WallInstant) -> Int? {
        let open = open(at: now)
        return open.isEmpty ? nil : open.reduce(0) { $0 + $1.left }
    }

    /// What the open windows had when they began; nil where none is open.
    package func full(at now: WallInstant) -> Int? {
        let open = open(at: now)
        return open.isEmpty ? nil : open.reduce(0) { $0 + $1.full }
    }

    private func open(at now: WallInstant) -> [Window] {
        windows.values.filter { now < $0.since + Self.length }
    }

    /// Whether the phone holds every push of the app.
    package func isExhausted(at now: WallInstant) -> Bool {
        left(at: now).map { $0 <= 0 } ?? false
    }

    /// When the next open window ends.
    func nextEnd(after now: WallInstant) -> WallInstant? {
        windows.values.map { $0.since + Self.length }.filter { $0 > now }.min()
    }
}

/// How many activities a push may start in a sliding window; a start beyond is dropped. One for all
/// types of the app, and frequent updates change nothing about it.
package struct StartWindow: Hashable, Sendable {
    /// Settings: people saw ten starts, in an hour or in a day.
    package struct Budget: Hashable, Sendable {
        package var count: Int
        package var window: Duration

        /// Ten in an hour, where nothing else is given.
        package init(count: Int = 10, window: Duration = .seconds(3_600)) {
            (self.count, self.window) = (count, window)
        }
    }

    private var starts: [WallInstant] = []

    package init() {}

    /// Counts a start; false where there have been enough.
    package mutating func take(_ budget: Budget, at now: WallInstant) -> Bool {
        starts.removeAll { now >= $0 + budget.window }
        guard starts.count < budget.count else { return false }
        starts.append(now)
        return true
    }
}
