import TomboloJSON

/// A timeline as the relay's answer contains it.
package struct WidgetTimeline: Hashable, Sendable {
    package var entries: [Widget.Entry]
    package var policy: Widget.Policy
    package var type: String?
    package var etag: String?

    /// The timeline of a widget that has nothing to show, because it does not exist or the user may
    /// not see it.
    static let empty = WidgetTimeline()

    private init() { (entries, policy) = ([], .never) }

    /// Returns nil if the bytes are not a timeline.
    package init?(_ bytes: [UInt8], etag: String?) {
        // It does not matter where the JSON is wrong: the widget keeps its timeline.
        guard let view = try? JSONDocument(bytes).root, let list = view["entries"],
            list.kind == .array
        else { return nil }
        entries = []
        for entry in list.elements.prefix(WidgetRules.entriesMax) {
            guard let date = entry["date"]?.string.flatMap(WallInstant.init(rfc3339:)),
                let content = entry["content"], content.kind == .object
            else { return nil }
            entries.append(
                Widget.Entry(
                    date: date, content: JSON.line(Array(content.raw)), url: entry["url"]?.string,
                    links: entry["links"]?.elements.compactMap(\.string) ?? []))
        }
        switch view["policy"]?.string {
        case "atEnd": policy = .atEnd
        case "never": policy = .never
        default:
            guard let date = view["policy"]?["after"]?.string.flatMap(WallInstant.init(rfc3339:))
            else { return nil }
            policy = .after(date)
        }
        type = view["type"]?.string
        self.etag = etag
    }
}

/// Outcome of a fetch.
package enum WidgetFetchOutcome: Hashable, Sendable {
    case timeline(WidgetTimeline)
    /// The widget's timeline is still current (304).
    case unchanged
    /// No answer came, or it was not a timeline.
    case failed
}
