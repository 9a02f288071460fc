/// A page of timelines in the order of app, kind and subject: the first ones after `after`.
///
/// A tenant may have a quarter of a million timelines, so they are read in pieces, between which
/// other requests get their turns.
package struct TimelineListing: Sendable {
    private let tenant: TenantID
    private let kind: Identifier?
    /// nil: all apps.
    package var app: String?
    /// True to list only subjects of kind `key`.
    package var isOfKeys = false
    private let after: [String]?
    package let limit: Int
    private var found: [(order: [String], key: TimelineKey)] = []
    /// The slots to read; nil: all.
    var places: [TimelineSlot]?
    /// Index of the next slot to read; nil after the last one.
    package internal(set) var place: Int? = 0

    /// How much longer a cut takes than a copy of the same bytes.
    static let cutWeight = 4
    /// Number of slots that are read in one piece.
    static let pieceMax = 1_024
    /// Maximum number of subjects that a widget gets to choose from on one page.
    package static let choices = 1_000

    /// - Parameters:
    ///   - kind: nil: all kinds.
    ///   - after: the `order` of the last timeline on the previous page.
    package init(_ tenant: TenantID, kind: Identifier?, after: [String]?, limit: Int) {
        self.tenant = tenant
        self.kind = kind
        self.after = after
        self.limit = limit
    }

    /// In order. It has one key more than `limit` if the list goes on.
    package var keys: [TimelineKey] { found.map(\.key) }

    /// Adds a timeline if it belongs on the page.
    mutating func add(_ key: TimelineKey) {
        guard key.tenant == tenant, kind == nil || kind == key.kind, app == nil || app == key.app,
            !isOfKeys || key.subject.name == "key"
        else { return }
        let order = key.order
        if let after, !TimelineKey.precedes(after, order) { return }
        if found.count > limit, let last = found.last, !TimelineKey.precedes(order, last.order) {
            return
        }
        var (low, high) = (0, found.count)
        while low < high {
            let middle = (low + high) / 2
            if TimelineKey.precedes(found[middle].order, order) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        // The same timeline was removed and added again between two pieces.
        if low < found.count, found[low].key == key { return }
        found.insert((order, key), at: low)
        if found.count > limit + 1 { found.removeLast() }
    }
}
