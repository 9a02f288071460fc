import TomboloJSON

/// A timeline as the relay answers it to `GET /v1/timelines/{kind}/entries`.
package struct WidgetTimeline: Hashable, Sendable {
    package var entries: [Widget.Entry]
    package var policy: Widget.Policy
    package var type: String?
    package var etag: String?

    /// Of a widget that has nothing to show: the relay knows no such timeline, or does not tell.
    static let empty = WidgetTimeline()

    private init() { (entries, policy) = ([], .never) }

    /// Nil where the bytes are no timeline.
    package init?(_ bytes: [UInt8], etag: String?) {
        // Where the fault lies does not matter: the widget stays as it is.
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

/// What became of a fetch.
package enum WidgetFetchOutcome: Hashable, Sendable {
    case timeline(WidgetTimeline)
    /// What the widget has is right still (304).
    case unchanged
    /// Nobody answered, or with something that is no timeline.
    case failed
}
