import TomboloEventLog

// Pages of facts, in either order, using the index of each chapter: see `FactIndex`.

extension LogReader {
    private struct FactWalk {
        let query: FactQuery
        let filter: FactFilter
        /// Range of sequences that may match.
        let places: ClosedRange<Int64>
        var page = FactPage(facts: [], next: nil)
        /// Number of examined rows of the tenant, and the place of the last one.
        var rows = 0
        var place: Int64 = 0
        var isDone = false

        var isRising: Bool { query.order == .oldestFirst }

        /// True if the page takes the tenant's next row, which is at place `tenantSeq`. If the page
        /// is full, this row proves that there is a next page.
        mutating func takes(_ tenantSeq: Int64) -> Bool {
            guard tenantSeq > query.after else {
                isDone = !isRising
                return false
            }
            guard tenantSeq < query.before ?? .max else {
                isDone = isRising
                return false
            }
            if page.isFull(query) || rows >= query.scanMax {
                page.next = place
                isDone = true
                return false
            }
            (rows, place) = (rows + 1, tenantSeq)
            return true
        }
    }

    func scan(_ query: FactQuery, tenant: Int64) throws(EventLogError) -> FactPage {
        let first = max(try place(.fact, tenant, after: query.after), standing.factCut) + 1
        let last = min(standing.fact, try end(tenant, before: query.before))
        guard first <= last else { return FactPage(facts: [], next: nil) }
        var walk = FactWalk(
            query: query, filter: FactFilter(query, tenant: tenant), places: first...last)
        // The newest chapter has no index rows yet, so it is read directly.
        let open = FactIndex.first(of: FactIndex.chapter(of: standing.fact + 1))
        for isOpen in walk.isRising ? [false, true] : [true, false] {
            if isOpen, last >= open { try read([max(first, open)...last], &walk) }
            if !isOpen, first < open { try readByIndex(first...min(last, open - 1), &walk) }
        }
        return walk.page
    }

    /// A sequence of the log. All facts of the tenant before its place `tenantSeq` are at or below
    /// it, and few other facts of the tenant are.
    private func end(_ tenant: Int64, before tenantSeq: Int64?) throws(EventLogError) -> Int64 {
        guard let tenantSeq, tenantSeq <= LogTable.numberMax else { return .max }
        let start = try place(.fact, tenant, after: max(tenantSeq, 1) - 1)
        if standing.isSole { return start }
        if let next = try engine.row(.fact, start + 1, FactRow.place), next == (tenant, tenantSeq) {
            return start
        }
        return start + Waypoint.spacing + 1
    }

    // MARK: The index

    /// Examines the facts that the index points to, until the page is full.
    private func readByIndex(
        _ places: ClosedRange<Int64>, _ walk: inout FactWalk
    ) throws(EventLogError) {
        let all =
            FactIndex.chapter(of: places.lowerBound)...FactIndex.chapter(of: places.upperBound)
        let step = walk.isRising ? 1 : -1
        var next = walk.isRising ? all.lowerBound : all.upperBound
        var ranges: [ClosedRange<Int64>] = []
        while !walk.isDone, all.contains(next) {
            let end = next + Int64(step * (walk.filter.chaptersAtOnce - 1))
            let last = min(max(end, all.lowerBound), all.upperBound)
            var leads = FactLeads(walk.filter, Array(stride(from: next, through: last, by: step)))
            try leads.find(limit: walk.query.limit, engine)
            if leads.areMissing {
                // There may be a gap: go to the next chapter that has facts.
                let beyond =
                    walk.isRising
                    ? try engine.edge(.fact, .rising, in: FactIndex.first(of: next)...Int64.max)
                    : try engine.edge(.fact, .falling, in: 0...max(0, FactIndex.last(of: next)))
                guard let beyond, FactIndex.isPlace(beyond) else { break }
                let chapter = FactIndex.chapter(of: beyond)
                if !leads.chapters.contains(chapter) {
                    next = chapter
                    continue
                }
            }
            ranges += leads.ranges(isRising: walk.isRising) { chapter in
                let (first, last) = (FactIndex.first(of: chapter), FactIndex.last(of: chapter))
                damage.add("the index of facts \(first) to \(last): a row is damaged")
            }.filter(walk.places.overlaps)
            next += Int64(step * leads.chapters.count)
            // Collect ranges from several chapters, to read few places of each in one call.
            let count = ranges.reduce(0) { $0 + $1.count }
            guard count > walk.query.limit || !all.contains(next) else { continue }
            try read(ranges, &walk)
            ranges = []
        }
        try read(ranges, &walk)
    }

    // MARK: Rows

    /// Examines the tenant's facts in these ranges, in the walk's order, until the page is full or
    /// enough rows were examined.
    private func read(
        _ ranges: [ClosedRange<Int64>], _ walk: inout FactWalk
    ) throws(EventLogError) {
        let ranges = ranges.map { $0.clamped(to: walk.places) }
        guard !ranges.isEmpty, !walk.isDone else { return }
        try engine.scan(.fact, ranges, walk.isRising ? .rising : .falling) {
            look(at: $0, $1, &walk)
            return !walk.isDone
        }
    }

    /// Uses the row without checking its checksum; it is verified only for rows that match.
    private func look(at seq: Int64, _ row: RawSpan, _ walk: inout FactWalk) {
        guard let numbers = FactRow.unproved(row) else {
            return damage.add("fact \(seq): its row is damaged")
        }
        // The fact of another tenant may have the same hash.
        guard numbers.tenant == walk.filter.tenant else { return }
        let place = FactRow.tenantSeq(numbers, row, at: seq)
        guard walk.takes(place), walk.filter.matches(numbers, row) else { return }
        if let fact = FactRow.fact(seq, row, tenants: tenants) {
            walk.page.append(fact)
        } else {
            walk.page.damaged.append(place...place)
            damage.add("fact \(seq): its row is damaged")
        }
    }
}
