/// The families of widgets, as WidgetKit's `WidgetFamily` names them.
package enum WidgetFamily: String, Hashable, Sendable, CaseIterable {
    case systemSmall, systemMedium, systemLarge, systemExtraLarge
    case accessoryInline, accessoryCircular, accessoryRectangular, accessoryCorner

    /// True if the family has more than one place to tap (Apple, "Linking to specific app scenes
    /// from your widget or Live Activity"). A tap on a widget of another family opens the entry's
    /// `url`.
    package var hasLinks: Bool {
        switch self {
        case .systemMedium, .systemLarge, .systemExtraLarge: true
        case .systemSmall, .accessoryInline, .accessoryCircular, .accessoryRectangular,
            .accessoryCorner:
            false
        }
    }
}
