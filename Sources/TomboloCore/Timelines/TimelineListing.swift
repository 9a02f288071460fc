/// A list of timelines in the order of app, kind and subject: the first ones after `after`.
///
/// It is collected in parts, between which others have their turn, because a tenant may have a
/// quarter of a million timelines.
package struct TimelineListing: Sendable {
    private let tenant: TenantID
    private let kind: Identifier?
    /// Nil means all apps.
    package var app: String?
    /// Only subjects `key`.
    package var isOfKeys = false
    private let after: [String]?
    package let limit: Int
    private var found: [(order: [String], key: TimelineKey)] = []
    /// The slots to look at; nil means all.
    var places: [TimelineSlot]?
    /// The index of the next slot to look at; nil once all were looked at.
    package internal(set) var place: Int? = 0

    /// The weight of a byte that is cut, compared with one that is copied.
    static let cutWeight = 4
    /// Slots that one part looks at.
    static let pieceMax = 1_024
    /// The most subjects on a page of choices for a widget.
    package static let choices = 1_000

    /// - Parameters:
    ///   - kind: nil means all kinds.
    ///   - after: the order of the last timeline on the page before.
    package init(_ tenant: TenantID, kind: Identifier?, after: [String]?, limit: Int) {
        self.tenant = tenant
        self.kind = kind
        self.after = after
        self.limit = limit
    }

    /// In order; one more than `limit` if there are more.
    package var keys: [TimelineKey] { found.map(\.key) }

    /// Adds a timeline if it belongs to the list.
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
        // A timeline that was removed and added again between two parts.
        if low < found.count, found[low].key == key { return }
        found.insert((order, key), at: low)
        if found.count > limit + 1 { found.removeLast() }
    }
}
