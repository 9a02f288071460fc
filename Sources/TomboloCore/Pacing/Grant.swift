/// A class of frame budget. Apple publishes no numbers: the defaults are estimates.
package enum BudgetClass: UInt8, Hashable, Sendable, CaseIterable {
    case standard, frequent, lab
    /// Push-to-start on one device.
    case start
    /// One broadcast channel.
    case channel
    /// Widget reloads of one app on one device.
    case widget
    /// Reloads of one control.
    case control

    /// The classes that a type or a device may have.
    package static let ofActivities: [BudgetClass] = [.standard, .frequent, .lab]

    /// Whether the class has no priority 5: every push takes a token, down to the last.
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

/// What a destination may be sent. Its numbers are kept in ranges in which buckets do not overflow.
package struct Grant: Hashable, Sendable {
    /// Least time between two sends, from 0 to `spacingMax`.
    package var spacing: Span { didSet { self = held } }
    /// Depth of the priority-10 bucket, in `burstRange`; no deeper than what `refillMax` fills.
    package var burst: Int64 { didSet { self = held } }
    /// Refill of the bucket, in `perHourRange`; nil means no bucket at all.
    package var perHour: Double? { didSet { self = held } }
    /// Tokens that only `must` pushes may take, from 0 to `burst`.
    package var reserve: Int64 { didSet { self = held } }
    /// Least time between two sends at priority 5, from 0 to `spacingMax`.
    package var lowPrioritySpacing: Span { didSet { self = held } }

    package static let spacingMax = Span.hours(24)
    package static let burstRange: ClosedRange<Int64> = 1...1_000_000_000
    package static let perHourRange = 0.001...1_000_000_000.0
    /// Ten years: an empty bucket that needs longer to fill is a mistake.
    package static let refillMax = Span.hours(87_600)

    /// The deepest bucket that is full within `refillMax` at so many tokens an hour.
    package static func burstMax(perHour: Double) -> Int64 {
        // At most 10⁹ an hour for 87,600 hours: far within 64 bits.
        let tokens = Int64(perHour.held(in: perHourRange) * refillMax.seconds / 3_600)
        return min(max(tokens, burstRange.lowerBound), burstRange.upperBound)
    }

    /// A number outside its range becomes the nearest bound.
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

    /// The granted interval of frames. Where there is a bucket, frames never take priority 10 and
    /// never share a second's timestamp.
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

/// A grant and the class it comes from, as shown to producers.
package struct GrantInForce: Hashable, Sendable {
    package var budgetClass: BudgetClass
    package var grant: Grant
}
