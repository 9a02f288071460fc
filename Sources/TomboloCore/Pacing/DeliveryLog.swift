/// The newest decisions of all destinations, in a ring: what `GET …/deliveries` lists. Frames are
/// not among them; they are counted.
///
/// It begins empty with the process. What must be known longer is in the log's facts (`push.sent`,
/// `push.refused`).
package struct DeliveryLog: Sendable {
    /// One decision.
    package struct Entry: Hashable, Sendable {
        /// Counts the tenant's own from 1 with the process: a cursor.
        package var number: Int64
        package var at: Instant
        package var tenant: TenantID
        package var activity: Identifier
        package var device: Identifier
        /// The versions that it decided; the last is the one that went, or did not. Nil where a
        /// push decided nothing new: an alert's, a repetition, a push of unknown outcome.
        package var decided: ClosedRange<Int64>?
        /// The version that the push carried, or that was passed over.
        package var version: Int64
        package var decision: EventDecision?
        /// The push, if there was one.
        package var push: DeliveryView?
    }

    /// About a megabyte.
    package static let entriesMax = 4_096

    private var entries: [Entry] = []
    private var next = 0
    private var count: Int64 = 0
    private var numbers = NumbersByTenant()

    package init() {}

    /// Keeps an entry under the next number, in place of the oldest if need be.
    mutating func append(_ entry: Entry) {
        var entry = entry
        count += 1
        entry.number = numbers.next(of: entry.tenant)
        if entries.count < Self.entriesMax {
            entries.append(entry)
        } else {
            entries[next] = entry
            next = (next + 1) % Self.entriesMax
        }
    }

    /// Names nobody any more where `isIt` is true; that there was a decision stays.
    mutating func forget(_ isIt: (Entry) -> Bool) {
        guard let nobody = Identifier("erased") else { return }
        for index in entries.indices where isIt(entries[index]) {
            entries[index].activity = nobody
            entries[index].device = nobody
            entries[index].push = nil
        }
    }

    /// How many there were, of all tenants.
    var total: Int64 { count }

    /// All but the first `total` that there were, oldest first; what the ring has dropped is not
    /// among them.
    func entries(afterFirst total: Int64) -> [Entry] {
        let new = min(Int(count - total), entries.count)
        guard new > 0 else { return [] }
        return (1...new).reversed().map { entries[(next + entries.count - $0) % entries.count] }
    }

    /// A tenant's entries, newest first.
    ///
    /// - Parameter before: only older ones than this number.
    package func newest(
        of tenant: TenantID, activity: Identifier?, device: Identifier?, before: Int64?,
        limit: Int
    ) -> [Entry] {
        var page: [Entry] = []
        for offset in 1...max(1, entries.count) where page.count < limit && !entries.isEmpty {
            let place = (next + entries.count - offset) % entries.count
            let entry = entries[place]
            guard entry.tenant == tenant, before.map({ entry.number < $0 }) ?? true else {
                continue
            }
            if let activity, entry.activity != activity { continue }
            if let device, entry.device != device { continue }
            page.append(entry)
        }
        return page
    }
}
