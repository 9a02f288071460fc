/// A class of frame budget. Apple publishes no numbers: the defaults are estimates.
package enum BudgetClass: UInt8, Hashable, Sendable, CaseIterable {
    case standard, frequent, lab
    /// Push-to-start, of one device.
    case start
    /// One broadcast channel.
    case channel
    /// Widget reloads, of one device and app.
    case widget
    /// One control.
    case control

    /// What a type or a device may be given.
    package static let ofActivities: [BudgetClass] = [.standard, .frequent, .lab]

    /// Whether it has no priority 5: every push takes a token, to the last.
    var isHighOnly: Bool { self == .start || self == .widget || self == .control }

    package var name: String {
        switch self {
        case .standard: "standard"
        case .frequent: "frequent"
        case .lab: "lab"
        case .start: "start"
        case .channel: "channel"
        case .widget: "widget"
        case .control: "control"
        }
    }

    /// Reads a class's name.
    package init?(name: String) {
        guard let match = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = match
    }
}

/// What a destination may be sent.
package struct Grant: Hashable, Sendable {
    /// Least time between two sends.
    package var spacing: Span
    /// Depth of the priority-10 bucket; at least 1.
    package var burst: Int64
    /// Its refill; nil is no bucket at all.
    package var perHour: Double?
    /// Tokens that only `must` may take.
    package var reserve: Int64
    /// Least time between two sends at priority 5.
    package var lowPrioritySpacing: Span

    package init(
        spacing: Span, burst: Int64, perHour: Double?, reserve: Int64, lowPrioritySpacing: Span
    ) {
        self.spacing = spacing
        self.burst = burst
        self.perHour = perHour
        self.reserve = reserve
        self.lowPrioritySpacing = lowPrioritySpacing
    }

    /// The granted interval of frames: they never take priority 10 where there is a bucket, and no
    /// second is shared there, by its timestamp.
    package var frameInterval: Span {
        perHour == nil ? spacing : max(spacing, lowPrioritySpacing, .seconds(1))
    }
}

/// The grants in force, by class.
package struct Budgets: Hashable, Sendable {
    private var grants: [Grant]

    package init() {
        grants = [
            Grant(
                spacing: .seconds(1), burst: 4, perHour: 11, reserve: 2,
                lowPrioritySpacing: .seconds(15)),
            Grant(
                spacing: .seconds(1), burst: 20, perHour: 200, reserve: 4,
                lowPrioritySpacing: .seconds(5)),
            Grant(spacing: .zero, burst: 20, perHour: nil, reserve: 0, lowPrioritySpacing: .zero),
            Grant(spacing: .zero, burst: 10, perHour: 0.5, reserve: 0, lowPrioritySpacing: .zero),
            Grant(
                spacing: .seconds(1), burst: 10, perHour: 600, reserve: 4,
                lowPrioritySpacing: .seconds(5)),
            Grant(
                spacing: .minutes(5), burst: 4, perHour: 1.5, reserve: 0,
                lowPrioritySpacing: .zero),
            Grant(
                spacing: .seconds(1), burst: 4, perHour: 60, reserve: 0,
                lowPrioritySpacing: .zero),
        ]
    }

    package subscript(_ budgetClass: BudgetClass) -> Grant {
        get { grants[Int(budgetClass.rawValue)] }
        set { grants[Int(budgetClass.rawValue)] = newValue }
    }
}

/// A grant and the class it comes from, as producers are told.
package struct GrantInForce: Hashable, Sendable {
    package var budgetClass: BudgetClass
    package var grant: Grant
}
