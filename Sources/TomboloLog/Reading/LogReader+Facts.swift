import TomboloCore
import TomboloEventLog

// Over the facts, in either order, by the index of each chapter: see `FactIndex`.

extension LogReader {
    /// Where a walk has come.
    private struct FactWalk {
        let query: FactQuery
        let filter: FactFilter
        /// The facts that may be asked for.
        let places: ClosedRange<Int64>
        /// Chapters before this one have rows in the index.
        let openChapter: Int64
        var page = FactPage(facts: [], next: nil)
        /// Rows of the tenant that were looked at, and the place of the last of them.
        var rows = 0
        var place: Int64 = 0
        var isDone = false

        var isRising: Bool { query.order == .oldestFirst }

        /// Whether the page takes another row of the tenant, whose place that is; where not, the
        /// row shows that there is more.
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
        let first = max(try place(.fact, tenant, after: query.after), try cut(.fact)) + 1
        let newest = try engine.newest(.fact)
        let last = min(newest, try end(tenant, before: query.before))
        guard first <= last else { return FactPage(facts: [], next: nil) }
        var walk = FactWalk(
            query: query, filter: FactFilter(query, tenant: tenant), places: first...last,
            openChapter: FactIndex.chapter(of: newest + 1))
        let chapters = FactIndex.chapter(of: first)...FactIndex.chapter(of: last)
        var chapter = walk.isRising ? chapters.lowerBound : chapters.upperBound
        while !walk.isDone, chapters.contains(chapter) {
            let hasIndex = try read(chapter, &walk)
            chapter += walk.isRising ? 1 : -1
            if !hasIndex { chapter = try skipGap(to: chapter, walk) }
        }
        return walk.page
    }

    /// The next chapter that has a fact at all: one whose place is damaged may be far beyond the
    /// others.
    private func skipGap(to chapter: Int64, _ walk: FactWalk) throws(EventLogError) -> Int64 {
        let seq =
            walk.isRising
            ? try engine.edge(.fact, .rising, in: FactIndex.first(of: chapter)...Int64.max)
            : try engine.edge(.fact, .falling, in: 0...max(0, FactIndex.last(of: chapter)))
        guard let seq, FactIndex.isPlace(seq) else { return -1 }
        return FactIndex.chapter(of: seq)
    }

    /// A place of the log up to which all facts of the tenant are that come before its own place
    /// `tenantSeq`, and few others behind those.
    private func end(_ tenant: Int64, before tenantSeq: Int64?) throws(EventLogError) -> Int64 {
        guard let tenantSeq, tenantSeq <= LogTable.numberMax else { return .max }
        let start = try place(.fact, tenant, after: max(tenantSeq, 1) - 1)
        if let next = try engine.row(.fact, start + 1, FactRow.place), next == (tenant, tenantSeq) {
            return start
        }
        return start + Waypoint.spacing + 1
    }

    /// False where it has no index.
    private func read(_ chapter: Int64, _ walk: inout FactWalk) throws(EventLogError) -> Bool {
        if chapter < walk.openChapter, try readByIndex(chapter, &walk) { return true }
        try read(FactIndex.first(of: chapter)...FactIndex.last(of: chapter), &walk)
        return false
    }

    /// False where a row of the index is missing or damaged; nothing was looked at then.
    private func readByIndex(_ chapter: Int64, _ walk: inout FactWalk) throws(EventLogError)
        -> Bool
    {
        let first = FactIndex.first(of: chapter)
        var blocks: [RowBlock] = []
        if walk.filter.needsBlocks {
            guard let found = try self.blocks(of: chapter) else { return false }
            guard found.contains(where: walk.filter.mayMatch) else { return true }
            blocks = found
        }
        guard walk.filter.hashes.isEmpty else {
            guard let offsets = try offsets(chapter, walk.filter) else { return false }
            for offset in walk.isRising ? offsets : offsets.reversed() where !walk.isDone {
                let block = Int(offset / FactIndex.blockSize)
                let mayMatch = blocks.isEmpty || walk.filter.mayMatch(blocks[block])
                if mayMatch { try look(at: first + offset, &walk) }
            }
            return true
        }
        for step in blocks.indices where !walk.isDone {
            let index = walk.isRising ? step : blocks.count - 1 - step
            guard walk.filter.mayMatch(blocks[index]) else { continue }
            let start = first + Int64(index) * FactIndex.blockSize
            try read(start...start + FactIndex.blockSize - 1, &walk)
        }
        return true
    }

    // MARK: The index

    /// nil where the row is missing or damaged.
    private func blocks(of chapter: Int64) throws(EventLogError) -> [RowBlock]? {
        if let found = try engine.row(
            .factBlock, FactIndex.first(of: chapter), FactChapter.init)
        {
            return found.blocks
        }
        note(chapter)
        return nil
    }

    /// The places in their chapter of facts that have all that the index knows of what is asked
    /// for, rising; nil where a row is missing or damaged.
    private func offsets(
        _ chapter: Int64, _ filter: FactFilter
    ) throws(EventLogError) -> [Int64]? {
        var common: [Int64]?
        for hash in filter.hashes {
            let key = FactIndex.key(chapter, hash.bucket)
            guard let entries = try engine.row(.factBucket, key, FactBucket.entries) else {
                note(chapter)
                return nil
            }
            let offsets = FactBucket.offsets(of: hash, in: entries)
            common = common.map { $0.filter(Set(offsets).contains) } ?? offsets
        }
        return common
    }

    private func note(_ chapter: Int64) {
        let (first, last) = (FactIndex.first(of: chapter), FactIndex.last(of: chapter))
        damage.add("the index of facts \(first) to \(last): a row is damaged")
    }

    // MARK: Rows

    /// Looks at the tenant's rows of that range, in the walk's order, until the page is full or
    /// enough were looked at.
    private func read(
        _ range: ClosedRange<Int64>, _ walk: inout FactWalk
    ) throws(EventLogError) {
        guard range.overlaps(walk.places) else { return }
        let range = range.clamped(to: walk.places)
        try engine.scan(.fact, range, walk.isRising ? .rising : .falling) {
            look(at: $0, $1, &walk)
            return !walk.isDone
        }
    }

    private func look(at seq: Int64, _ walk: inout FactWalk) throws(EventLogError) {
        guard walk.places.contains(seq) else { return }
        _ = try engine.row(.fact, seq) { look(at: $0, $1, &walk) }
    }

    /// By what the row says, whether it is right or not: its checksum is for those that count.
    private func look(at seq: Int64, _ row: RawSpan, _ walk: inout FactWalk) {
        guard let numbers = FactRow.unproved(row) else {
            return damage.add("fact \(seq): its row is damaged")
        }
        // Another tenant's fact may have the same hash.
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

/// What a query asks for, as rows have it.
private struct FactFilter {
    let tenant: Int64
    /// What the index knows of it.
    let hashes: [FactHash]
    private let query: FactQuery
    private let recipient: [UInt8]?
    private let kinds: [[UInt8]]?
    /// One of them is of a block that holds what is asked for.
    private let marks: [UInt64]

    init(_ query: FactQuery, tenant: Int64) {
        self.query = query
        self.tenant = tenant
        recipient = query.recipient.map(FactRecipient.key)
        kinds = query.kinds.map { $0.sorted().map { Array($0.utf8) } }
        marks =
            kinds.map { $0.map { $0.withUnsafeBytes { FactHash.mark(tenant, $0) } } }
            ?? [FactHash.mark(tenant)]
        var hashes: [FactHash] = []
        if let activity = query.activity { hashes.append(FactHash(activity: activity.rawValue)) }
        recipient?.withUnsafeBytes { hashes.append(FactHash(recipient: $0, tenant: tenant)) }
        self.hashes = hashes
    }

    /// Whether blocks tell more than hashes do.
    var needsBlocks: Bool {
        hashes.isEmpty || kinds != nil || query.from != nil || query.until != nil
    }

    func mayMatch(_ block: RowBlock) -> Bool {
        block.mayHave(from: query.from, until: query.until) && marks.contains(where: block.has)
    }

    /// Whether a row is asked for, by what it says.
    func matches(_ numbers: FactRow.Numbers, _ row: RawSpan) -> Bool {
        if let activity = query.activity, numbers.activity != activity.rawValue { return false }
        guard query.matches(recordedAt: Instant(nanoseconds: numbers.recordedAt)) else {
            return false
        }
        guard kinds != nil || recipient != nil else { return true }
        return FactRow.withContent(numbers, row) { kind, body in
            if let kinds, !kinds.contains(where: { $0.elementsEqual(kind) }) { return false }
            guard let recipient else { return true }
            return FactRecipient.key(in: body)?.elementsEqual(recipient) ?? false
        }
    }
}
