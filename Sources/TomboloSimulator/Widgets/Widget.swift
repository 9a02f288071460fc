import TomboloJSON

/// One widget on a phone's Home or Lock Screen, in WidgetKit's model: its timeline, the entry it
/// shows, and when it fetches again (Apple, *Keeping a widget up to date*).
package struct Widget: Hashable, Sendable {
    /// WidgetKit's families, by their names.
    package enum Family: String, CaseIterable, Hashable, Sendable {
        case systemSmall, systemMedium, systemLarge, systemExtraLarge
        case accessoryInline, accessoryCircular, accessoryRectangular, accessoryCorner

        /// True if widgets of the family have more than one tap target.
        var hasLinks: Bool {
            switch self {
            case .systemMedium, .systemLarge, .systemExtraLarge: true
            default: false
            }
        }
    }

    /// Identity of a widget. A phone has at most one with each key.
    package struct Key: Hashable, Sendable {
        package var kind: String
        package var family: Family
        /// The user's configuration; nil if the widget cannot be configured.
        package var config: String?

        /// A nil `config` means that the widget cannot be configured.
        package init(kind: String, family: Family, config: String? = nil) {
            (self.kind, self.family, self.config) = (kind, family, config)
        }
    }

    /// Content to show from a date on.
    package struct Entry: Hashable, Sendable {
        package var date: WallInstant
        /// The content, one JSON object.
        package var content: [UInt8]
        package var url: String?
        package var links: [String] = []
    }

    /// When the widget fetches the next timeline.
    package enum Policy: Hashable, Sendable {
        case atEnd, never
        case after(WallInstant)

        package var name: String {
            switch self {
            case .atEnd: "atEnd"
            case .never: "never"
            case .after: "after"
            }
        }
    }

    /// Why a widget fetches.
    package enum Cause: String, Hashable, Sendable {
        /// It was just added.
        case placed
        /// A push said that something changed.
        case push
        /// Its last entry's date has passed.
        case atEnd = "at_end"
        /// The date of its policy `after` has passed.
        case after
        /// The app in the foreground requested it (`WidgetCenter`).
        case app
        /// The previous fetch has failed.
        case retry

        /// True if the fetch counts against the day's budget. The first fetch, and requests of the
        /// app in the foreground, do not count.
        var isCounted: Bool { self != .app && self != .placed }
    }

    /// A future fetch.
    package struct Fetch: Hashable, Sendable {
        package var cause: Cause
        package var at: WallInstant
    }

    package let key: Key
    /// The entries in the order of their dates. If there are none, the placeholder is shown.
    package internal(set) var entries: [Entry] = []
    /// Index of the shown entry; nil if the placeholder is shown.
    package internal(set) var shown: Int?
    package internal(set) var policy = Policy.never
    /// Type of the states in the entries; nil if the relay does not give it.
    package internal(set) var type: String?
    /// ETag of the current timeline.
    package internal(set) var etag: String?
    /// The fetch that was requested, and since when it is due; nil if only the policy decides.
    var wanted: Fetch?
    /// Cause of the running fetch; nil if none runs.
    package internal(set) var fetching: Cause?
    /// Number of successful fetches, and time and cause of the last one.
    package internal(set) var fetchCount = 0
    package internal(set) var fetchedAt: WallInstant?
    package internal(set) var fetchedFor: Cause?
    /// Start times of the counted fetches of the last 24 hours, oldest first.
    var counted: [WallInstant] = []
    var failuresInRow = 0
    /// Number of pictures: one for each new entry, and one for each fetch that changed the picture.
    package internal(set) var drawnCount = 0

    init(_ key: Key) { self.key = key }

    /// The shown entry; nil if the placeholder is shown.
    package var current: Entry? { shown.map { entries[$0] } }

    /// The shown content, or one of its `items`; empty if the placeholder is shown.
    func state(ofItem index: Int) -> [UInt8] {
        guard let current else { return [] }
        let root = try? JSONDocument(current.content).root  // The relay wrote it as JSON.
        let items = root?["items"]?.elements.map { $0 } ?? []
        return items.indices.contains(index) ? [UInt8](items[index].raw) : current.content
    }

    /// True if the item is visible. `{}` means that it does not exist or is hidden from this phone.
    func hasItem(_ index: Int) -> Bool { state(ofItem: index) != Array("{}".utf8) }

    /// When the next entry will be shown; nil if there is no further one.
    var nextEntryAt: WallInstant? {
        let next = shown.map { $0 + 1 } ?? 0
        return entries.indices.contains(next) ? entries[next].date : nil
    }
}
