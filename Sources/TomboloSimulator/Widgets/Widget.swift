import TomboloJSON

/// One widget on a phone's Home or Lock Screen, as WidgetKit keeps it: the timeline it has fetched,
/// the entry it shows, and when it fetches again (Apple, *Keeping a widget up to date*).
package struct Widget: Hashable, Sendable {
    /// WidgetKit's families, by their names.
    package enum Family: String, CaseIterable, Hashable, Sendable {
        case systemSmall, systemMedium, systemLarge, systemExtraLarge
        case accessoryInline, accessoryCircular, accessoryRectangular, accessoryCorner

        /// Whether it has more than one place to tap.
        var hasLinks: Bool {
            switch self {
            case .systemMedium, .systemLarge, .systemExtraLarge: true
            default: false
            }
        }
    }

    /// Which widget it is. A phone has each once.
    package struct Key: Hashable, Sendable {
        package var kind: String
        package var family: Family
        /// What its user has configured it to; nil: it has nothing to configure.
        package var config: String?

        /// `config` nil: the widget has nothing to configure.
        package init(kind: String, family: Family, config: String? = nil) {
            (self.kind, self.family, self.config) = (kind, family, config)
        }
    }

    /// What it shows from a date on.
    package struct Entry: Hashable, Sendable {
        package var date: WallInstant
        /// One JSON object.
        package var content: [UInt8]
        package var url: String?
        package var links: [String] = []
    }

    /// When it asks for another timeline (`TimelineReloadPolicy`).
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

    /// Why it fetches.
    package enum Cause: String, Hashable, Sendable {
        /// It has just been put there.
        case placed
        /// A push said that there is something new.
        case push
        /// Its last entry's date is over.
        case atEnd = "at_end"
        /// The date of its policy `after` is over.
        case after
        /// The app in front has asked for it (`WidgetCenter`).
        case app
        /// The fetch before has failed.
        case retry

        /// Whether it counts against the day's fetches; those of an app in front do not.
        var isCounted: Bool { self != .app && self != .placed }
    }

    /// A fetch to come.
    package struct Fetch: Hashable, Sendable {
        package var cause: Cause
        package var at: WallInstant
    }

    package let key: Key
    /// In the order of their dates; empty: the placeholder.
    package internal(set) var entries: [Entry] = []
    /// Of the entry that it shows; nil: it shows the placeholder.
    package internal(set) var shown: Int?
    package internal(set) var policy = Policy.never
    /// Whose states its entries are, where the relay says so.
    package internal(set) var type: String?
    /// The validator of what it has.
    package internal(set) var etag: String?
    /// Why the next fetch is due, and since when; nil: its policy decides.
    var wanted: Fetch?
    /// The cause of the fetch that runs now.
    package internal(set) var fetching: Cause?
    /// Fetches that ended well, and why the last of them went.
    package internal(set) var fetchCount = 0
    package internal(set) var fetchedAt: WallInstant?
    package internal(set) var fetchedFor: Cause?
    /// When the counted ones of the last 24 hours began, oldest first.
    var counted: [WallInstant] = []
    var failuresInRow = 0
    /// Pictures drawn: each entry that it has come to, and each fetch that showed something else.
    package internal(set) var drawnCount = 0

    init(_ key: Key) { self.key = key }

    /// The entry that it shows; nil: the placeholder.
    package var current: Entry? { shown.map { entries[$0] } }

    /// The content that it shows, or of several `items` one; empty: it shows the placeholder.
    func state(ofItem index: Int) -> [UInt8] {
        guard let current else { return [] }
        let root = try? JSONDocument(current.content).root  // The relay's own writing.
        let items = root?["items"]?.elements.map { $0 } ?? []
        return items.indices.contains(index) ? [UInt8](items[index].raw) : current.content
    }

    /// Whether one of its items may be seen: an empty one is not there, or not for this phone.
    func hasItem(_ index: Int) -> Bool { state(ofItem: index) != Array("{}".utf8) }

    /// When its entry changes by itself; nil: it does not.
    var nextEntryAt: WallInstant? {
        let next = shown.map { $0 + 1 } ?? 0
        return entries.indices.contains(next) ? entries[next].date : nil
    }
}
