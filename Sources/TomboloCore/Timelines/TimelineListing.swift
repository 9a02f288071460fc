/// A list of timelines in the order of app, kind and subject: the first ones after `after`.
///
/// It is collected in pieces, between which others have their turn: a tenant may have a quarter of
/// a million.
package struct TimelineListing: Sendable {
    private let tenant: TenantID
    private let kind: Identifier?
    /// nil: all apps.
    package var app: String?
    /// Only subjects `key`.
    package var isOfKeys = false
    private let after: [String]?
    package let limit: Int
    private var found: [(order: [String], key: TimelineKey)] = []
    /// The places to look at; nil: all.
    var places: [TimelineSlot]?
    /// Where the next piece begins; nil where all places were looked at.
    package internal(set) var place: Int? = 0

    /// A byte that is cut counts as so many.
    static let cutWeight = 4
    /// Places that one piece looks at.
    static let pieceMax = 1_024
    /// A page of what may be chosen for a widget has at most so many.
    package static let choices = 1_000

    /// - Parameters:
    ///   - kind: nil: all kinds.
    ///   - after: the order of the last one of the page before.
    package init(_ tenant: TenantID, kind: Identifier?, after: [String]?, limit: Int) {
        self.tenant = tenant
        self.kind = kind
        self.after = after
        self.limit = limit
    }

    /// In order; one more than `limit` where there are more.
    package var keys: [TimelineKey] { found.map(\.key) }

    /// Takes a timeline in, where it belongs to the list.
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
        // One that left and came back between two pieces.
        if low < found.count, found[low].key == key { return }
        found.insert((order, key), at: low)
        if found.count > limit + 1 { found.removeLast() }
    }
}
