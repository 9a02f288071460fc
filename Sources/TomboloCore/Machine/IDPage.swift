/// A page of a list in the order of ids: the first ones after `after`. A tenant may have half a
/// million ids, so they are read in pieces, between which other requests get their turns. What is
/// added or removed meanwhile may be on the page or not.
package struct IDPage: Sendable {
    package let after: Identifier?
    package let limit: Int
    /// In order. It has one id more than `limit` if the list goes on.
    package private(set) var ids: [Identifier] = []
    /// The next slot to read; nil after the last one.
    package internal(set) var place: Int? = 0

    /// How many slots are read for one piece. A card that is read counts as a slot.
    static let pieceMax = 16_384
    /// Approximate maximum of bytes in a page. (A thousand states of 4 KB took 10 ms.)
    package static let bytesMax = 1 << 20
    /// Approximate bytes of a card and of a token in an answer.
    static let (cardBytes, tokenBytes) = (280, 190)
    /// What a device's line of a list costs, as bytes: a thousand lines took 10 ms of the loop.
    static let glanceBytes = 1_900

    package init(after: Identifier?, limit: Int) {
        self.after = after
        self.limit = limit
    }

    /// False if the id cannot be on the page: a fast test for most ids.
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
        // The same id was removed and added again between two pieces.
        if low < ids.count, ids[low] == id { return }
        ids.insert(id, at: low)
        if ids.count > limit + 1 { ids.removeLast() }
    }

    /// The views of the page within the byte limit. `next` is the last id if the list goes on.
    ///
    /// - Parameters:
    ///   - size: approximate size of a view before it is made.
    ///   - view: returns nil if nothing has this id any more.
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

/// Selects a tenant's activities for a list. A member that is nil selects all.
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
