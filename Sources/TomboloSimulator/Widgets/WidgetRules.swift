/// What a phone allows its widgets.
package struct WidgetRules: Hashable, Sendable {
    /// Fetches of one widget in 24 hours. Apple says 40 to 70 for one that is looked at often.
    package var fetchesPerDay = 40
    /// The least time between two fetches by policy. Apple asks for entries about five minutes
    /// apart.
    package var spacing: Duration = .seconds(300)

    /// After a fetch that failed the next one waits so long, and twice as long each time.
    static let retryFirst: Duration = .seconds(2)
    static let retryMax: Duration = .seconds(900)
    /// A widget remembers its counted fetches for so long.
    static let day: Duration = .seconds(86_400)
    /// More widgets of one phone are refused.
    package static let widgetsMax = 100
    /// More entries of one timeline are left out.
    static let entriesMax = 1_000

    package init() {}
}
