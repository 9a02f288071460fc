/// A page of a list in the order of its ids: the first ones after `after`.
///
/// It is collected in pieces, between which others have their turn: a tenant may have half a
/// million. What comes or goes meanwhile may be on the page or not.
package struct IDPage: Sendable {
    package let after: Identifier?
    package let limit: Int
    /// In order; one more than `limit` where there are more.
    package private(set) var ids: [Identifier] = []
    /// Where the next piece begins; nil where all places were looked at.
    package internal(set) var place: Int? = 0

    /// Places that one piece looks at; a card of an activity counts as one where it is looked at.
    static let pieceMax = 16_384
    /// The views of a page come to about so many bytes, or are one: a thousand states of 4 KB took
    /// the loop 10 ms.
    package static let bytesMax = 1 << 20
    /// What a card takes in an answer, and a token.
    static let (cardBytes, tokenBytes) = (280, 190)

    package init(after: Identifier?, limit: Int) {
        self.after = after
        self.limit = limit
    }

    /// Whether an id would be on the page, by what is known so far. Most end at this comparison.
    func takes(_ id: Identifier) -> Bool {
        if ids.count > limit, let last = ids.last, last <= id { return false }
        return after.map { $0 < id } ?? true
    }

    mutating func insert(_ id: Identifier) {
        var (low, high) = (0, ids.count)
        while low < high {
            let middle = (low + high) / 2
            (low, high) = ids[middle] < id ? (middle + 1, high) : (low, middle)
        }
        // One that left and came back between two pieces.
        if low < ids.count, ids[low] == id { return }
        ids.insert(id, at: low)
        if ids.count > limit + 1 { ids.removeLast() }
    }

    /// The first views, as many as there is room for, and the last one's id where there are more.
    ///
    /// - Parameters:
    ///   - size: of an id's view, about; asked before the view is made.
    ///   - view: nil where it is there no more.
    func views<View>(
        size: (Identifier) -> Int, view: (Identifier) -> View?
    ) -> (views: [View], next: Identifier?) {
        var views: [View] = []
        var bytes = 0
        var last: Identifier?
        for id in ids {
            bytes += size(id)
            if last != nil, views.count == limit || bytes > Self.bytesMax { return (views, last) }
            last = id
            if let view = view(id) { views.append(view) }
        }
        return (views, nil)
    }
}

/// Which of a tenant's activities a list has; nil takes all.
package struct ActivityFilter: Sendable {
    package var tenant: TenantID
    package var status: ActivityStatus?
    package var type: String?
    package var user: String?

    package init(tenant: TenantID, status: ActivityStatus?, type: String?, user: String?) {
        self.tenant = tenant
        self.status = status
        self.type = type
        self.user = user
    }
}
