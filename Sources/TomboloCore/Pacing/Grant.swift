/// A class of budgets for pushes. Apple publishes no numbers, so the defaults are estimates.
package enum BudgetClass: UInt8, Hashable, Sendable, CaseIterable {
    case standard, frequent, lab
    /// Starts on one device.
    case start
    /// Pushes on one broadcast channel.
    case channel
    /// Reloads of one app's widgets on one device.
    case widget
    /// Reloads of one control.
    case control

    /// The classes that a type or a device may have.
    package static let ofActivities: [BudgetClass] = [.standard, .frequent, .lab]

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

    /// Finds the class with this name. Returns nil for other names.
    package init?(name: String) {
        guard let match = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = match
    }
}

/// How much may be sent. All members are kept in ranges in which a bucket cannot overflow.
package struct Grant: Hashable, Sendable {
    /// Minimum time between two pushes, from 0 to `spacingMax`.
    package var spacing: Span { didSet { self = held } }
    /// Size of the bucket for priority 10, in `burstRange`. It can be filled within `refillMax`.
    package var burst: Int64 { didSet { self = held } }
    /// Tokens that the bucket gets in an hour, in `perHourRange`; nil: no bucket limits the pushes.
    package var perHour: Double? { didSet { self = held } }
    /// Tokens that are kept for alerts, starts and ends, from 0 to `burst`.
    package var reserve: Int64 { didSet { self = held } }
    /// Minimum time between two pushes at priority 5, from 0 to `spacingMax`.
    package var lowPrioritySpacing: Span { didSet { self = held } }

    package static let spacingMax = Span.hours(24)
    package static let burstRange: ClosedRange<Int64> = 1...1_000_000_000
    package static let perHourRange = 0.001...1_000_000_000.0
    /// Ten years. A bucket that needs longer to be filled is a mistake.
    package static let refillMax = Span.hours(87_600)

    /// The largest bucket that `perHour` fills within `refillMax`.
    package static func burstMax(perHour: Double) -> Int64 {
        // At most 10⁹ an hour for 87,600 hours: this fits in 64 bits.
        let tokens = Int64(perHour.held(in: perHourRange) * refillMax.seconds / 3_600)
        return min(max(tokens, burstRange.lowerBound), burstRange.upperBound)
    }

    /// Clamps each number to its range.
    package init(
        spacing: Span, burst: Int64, perHour: Double?, reserve: Int64, lowPrioritySpacing: Span
    ) {
        let rate = perHour.map { $0.held(in: Self.perHourRange) }
        let most = rate.map(Self.burstMax) ?? Self.burstRange.upperBound
        self.spacing = min(max(spacing, .zero), Self.spacingMax)
        self.burst = min(max(burst, Self.burstRange.lowerBound), most)
        self.perHour = rate
        self.reserve = min(max(reserve, 0), self.burst)
        self.lowPrioritySpacing = min(max(lowPrioritySpacing, .zero), Self.spacingMax)
    }

    private var held: Grant {
        Grant(
            spacing: spacing, burst: burst, perHour: perHour, reserve: reserve,
            lowPrioritySpacing: lowPrioritySpacing)
    }

    /// The minimum interval of frames. If there is a bucket, frames never use priority 10, and no
    /// two of them have the same second as their timestamp.
    package var frameInterval: Span {
        perHour == nil ? spacing : max(spacing, lowPrioritySpacing, .seconds(1))
    }
}

/// The configured grant of each class.
package struct Budgets: Hashable, Sendable {
    private var grants: [Grant]

    package init() {
        grants = [
            Grant(
                spacing: .seconds(1), burst: 4, perHour: 10, reserve: 1,
                lowPrioritySpacing: .seconds(15)),
            Grant(
                spacing: .seconds(1), burst: 20, perHour: 200, reserve: 4,
                lowPrioritySpacing: .seconds(5)),
            Grant(spacing: .zero, burst: 20, perHour: nil, reserve: 0, lowPrioritySpacing: .zero),
            Grant(spacing: .zero, burst: 10, perHour: 0.5, reserve: 0, lowPrioritySpacing: .zero),
            Grant(
                spacing: .seconds(1), burst: 4, perHour: 10, reserve: 1,
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

/// A grant and its class, as producers see them.
package struct GrantInForce: Hashable, Sendable {
    package var budgetClass: BudgetClass
    package var grant: Grant
}
