/// The newest neighbours of the log or of its facts: see `LogWindow`. They share the batches in
/// which they came, so that a row costs a few words.
struct NewestRows<Item> {
    struct Row {
        var seq: Int64
        var tenant: Int64
        var tenantSeq: Int64
        /// The activity's event before; 0 of a fact.
        var previous: Int64
        /// Among all that ever were.
        fileprivate var batch: Int
    }

    private struct Batch {
        var first: Int64
        var items: [Item]
        var bytes: Int
    }

    /// From `start` on; what is before it has left.
    private var rows: [Row] = []
    private var start = 0
    private var batches: [Batch] = []
    private var batchStart = 0
    private var batchesGone = 0
    private var bytes = 0
    /// The oldest that is here, or the next one where none is.
    private(set) var first: Int64 = 1

    func item(_ row: Row) -> Item {
        let batch = batches[row.batch - batchesGone]
        return batch.items[Int(row.seq - batch.first)]
    }

    mutating func add(
        _ items: [Item], at seq: Int64, bytes size: (Item) -> Int,
        place: (Int) -> (tenant: Int64, tenantSeq: Int64, previous: Int64)
    ) {
        guard !items.isEmpty else { return }
        if first + Int64(rows.count - start) != seq { forget(through: seq - 1) }
        var batch = Batch(first: seq, items: items, bytes: 0)
        for index in items.indices {
            let (tenant, tenantSeq, previous) = place(index)
            rows.append(
                Row(
                    seq: seq + Int64(index), tenant: tenant, tenantSeq: tenantSeq,
                    previous: previous, batch: batchesGone + batches.count))
            batch.bytes += size(items[index])
        }
        batches.append(batch)
        bytes += batch.bytes
        while rows.count - start > LogWindow.rowsMax || bytes > LogWindow.bytesMax { evict() }
    }

    /// The oldest batch leaves.
    private mutating func evict() {
        let batch = batches[batchStart]
        bytes -= batch.bytes
        start += batch.items.count
        first = batch.first + Int64(batch.items.count)
        batches[batchStart].items = []
        batchStart += 1
        guard start > LogWindow.rowsMax || start == rows.count else { return }
        rows.removeSubrange(..<start)
        batches.removeSubrange(..<batchStart)
        batchesGone += batchStart
        (start, batchStart) = (0, 0)
    }

    /// Rows up to that one leave, and those that came with it.
    mutating func forget(through seq: Int64) {
        while start < rows.count, first <= seq { evict() }
        if start == rows.count { first = max(first, seq + 1) }
    }

    /// The tenant's rows after its own place `tenantSeq`; nil where there may be some before those
    /// that are here.
    ///
    /// - Parameters:
    ///   - place: no row of the tenant lies between its own place and this one of the log.
    ///   - cut: the last row that the log has no more.
    func rows(
        of tenant: Int64, after tenantSeq: Int64, place: Int64?, _ cut: Int64?
    ) -> [Row]? {
        var found: [Row] = []
        for row in rows[start...].reversed() {
            if let place, row.seq <= place { return found.reversed() }
            guard row.tenant == tenant else { continue }
            if row.tenantSeq <= tenantSeq { return found.reversed() }
            found.append(row)
            if row.tenantSeq == tenantSeq + 1 { return found.reversed() }
        }
        let isAll = first <= max(place ?? 0, cut ?? 0) + 1
        return isAll ? found.reversed() : nil
    }

    /// All of the tenant that are here.
    func rows(of tenant: Int64) -> [Row] { rows[start...].filter { $0.tenant == tenant } }
}
