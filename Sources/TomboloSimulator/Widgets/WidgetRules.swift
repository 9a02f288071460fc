/// Limits of a phone's widgets.
package struct WidgetRules: Hashable, Sendable {
    /// Fetches of one widget in 24 hours. Apple says 40 to 70 for a widget that is looked at often.
    package var fetchesPerDay = 40
    /// Least time between two fetches by policy. Apple asks for entries about five minutes apart.
    package var spacing: Duration = .seconds(300)

    /// Wait after a failed fetch; it doubles up to `retryMax`.
    static let retryFirst: Duration = .seconds(2)
    static let retryMax: Duration = .seconds(900)
    /// How long a counted fetch is remembered.
    static let day: Duration = .seconds(86_400)
    /// Most widgets of one phone; more are refused.
    package static let widgetsMax = 100
    /// Most entries of one timeline; more are left out.
    static let entriesMax = 1_000

    package init() {}
}
