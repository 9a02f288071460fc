/// The families of widgets, by WidgetKit's names (`WidgetFamily`).
package enum WidgetFamily: String, Hashable, Sendable, CaseIterable {
    case systemSmall, systemMedium, systemLarge, systemExtraLarge
    case accessoryInline, accessoryCircular, accessoryRectangular, accessoryCorner

    /// Whether it has more than one tappable place (Apple, "Linking to specific app scenes from
    /// your widget or Live Activity"): the others open the entry's `url`.
    package var hasLinks: Bool {
        switch self {
        case .systemMedium, .systemLarge, .systemExtraLarge: true
        case .systemSmall, .accessoryInline, .accessoryCircular, .accessoryRectangular,
            .accessoryCorner:
            false
        }
    }
}
