/// Limits of a phone's widgets.
package struct WidgetRules: Hashable, Sendable {
    /// Maximum number of counted fetches of a widget in 24 hours. Apple says 40 to 70 for a widget
    /// that is often viewed.
    package var fetchesPerDay = 40
    /// Minimum time between two fetches by policy. Apple asks for entries about five minutes apart.
    package var spacing: Duration = .seconds(300)

    /// Wait after a failed fetch. Each further failure doubles it, up to `retryMax`.
    static let retryFirst: Duration = .seconds(2)
    static let retryMax: Duration = .seconds(900)
    /// How long a fetch counts against the budget.
    static let day: Duration = .seconds(86_400)
    /// Maximum number of widgets of a phone; more are refused.
    package static let widgetsMax = 100
    /// Maximum number of entries of a timeline; more are left out.
    static let entriesMax = 1_000

    package init() {}
}
