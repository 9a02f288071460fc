import TomboloCore
import TomboloEventLog

/// Search hits: what the index says about some chapters of facts, for one query.
struct FactLeads {
    /// The chapters that were looked up, in the walk's order: as many as fill a page.
    private(set) var chapters: [Int64]
    private let filter: FactFilter
    /// For each chapter, one bit for each block that may have matching facts.
    private var blocks: [Int64: UInt64] = [:]
    /// For each hash of the query: the offsets of matching facts, by chapter.
    private var offsets: [[Int64: [Int64]]]

    init(_ filter: FactFilter, _ chapters: [Int64]) {
        (self.filter, self.chapters) = (filter, chapters)
        offsets = .init(repeating: [:], count: filter.hashes.count)
    }

    /// True if no index row was found for any of the chapters.
    var areMissing: Bool { blocks.isEmpty && offsets.allSatisfy(\.isEmpty) }

    /// Reads index rows until they lead to more than `limit` facts or blocks that may match.
    mutating func find(limit: Int, _ engine: any LogReading) throws(EventLogError) {
        if filter.needsBlocks { try findBlocks(limit, engine) }
        if !filter.hashes.isEmpty { try findOffsets(limit, engine) }
    }

    private mutating func findBlocks(
        _ limit: Int, _ engine: any LogReading
    ) throws(EventLogError) {
        var count = 0
        try engine.rows(.factBlock, chapters.map(FactIndex.first)) { first, row in
            let chapter = FactIndex.chapter(of: first)
            guard let found = FactChapter(first, row)?.blocks else { return true }
            var bits: UInt64 = 0
            for index in found.indices where filter.mayMatch(found[index]) { bits |= 1 << index }
            blocks[chapter] = bits
            count += bits.nonzeroBitCount
            guard filter.hashes.isEmpty, count >= min(limit, found.count) else { return true }
            stop(behind: chapter)
            return false
        }
    }

    private mutating func findOffsets(
        _ limit: Int, _ engine: any LogReading
    ) throws(EventLogError) {
        var count = 0
        let keys = chapters.filter { mayHave($0) }.flatMap { chapter in
            filter.hashes.map { FactIndex.key(chapter, $0.bucket) }
        }
        try engine.rows(.factBucket, keys) { key, row in
            let chapter = key / FactIndex.buckets
            guard let entries = FactBucket.entries(key, row) else { return true }
            for (index, hash) in filter.hashes.enumerated()
            where FactIndex.key(chapter, hash.bucket) == key {
                let found = FactBucket.offsets(of: hash, in: entries)
                offsets[index][chapter] = found
                if index == filter.hashes.count - 1 { count += found.count }
            }
            guard count > limit else { return true }
            stop(behind: chapter)
            return false
        }
    }

    private mutating func stop(behind chapter: Int64) {
        guard let last = chapters.firstIndex(of: chapter) else { return }
        chapters.removeSubrange((last + 1)...)
    }

    private func mayHave(_ chapter: Int64) -> Bool {
        !filter.needsBlocks || blocks[chapter] ?? 0 != 0
    }

    /// The sequences of facts to examine, in the walk's order. If a chapter's row is missing or
    /// damaged, calls `damaged` and returns the whole chapter.
    func ranges(isRising: Bool, damaged: (Int64) -> Void) -> [ClosedRange<Int64>] {
        var ranges: [ClosedRange<Int64>] = []
        for chapter in chapters {
            guard var found = places(of: chapter) else {
                damaged(chapter)
                ranges.append(FactIndex.first(of: chapter)...FactIndex.last(of: chapter))
                continue
            }
            if !isRising { found.reverse() }
            ranges += found
        }
        return ranges
    }

    /// The ranges to examine in a chapter; nil if a row is missing or damaged.
    private func places(of chapter: Int64) -> [ClosedRange<Int64>]? {
        let first = FactIndex.first(of: chapter)
        guard let hashed = offsets.first else {
            return blocks[chapter].map { bits in
                (0..<Int64(UInt64.bitWidth)).filter { bits & 1 << $0 != 0 }.map {
                    let start = first + $0 * FactIndex.blockSize
                    return start...start + FactIndex.blockSize - 1
                }
            }
        }
        if filter.needsBlocks {
            guard blocks[chapter] != nil else { return nil }
            guard mayHave(chapter) else { return [] }
        }
        guard var common = hashed[chapter] else { return nil }
        for other in offsets.dropFirst() {
            guard let other = other[chapter] else { return nil }
            common = common.filter(Set(other).contains)
        }
        if let bits = blocks[chapter] {
            common.removeAll { bits & 1 << ($0 / FactIndex.blockSize) == 0 }
        }
        return common.map { first + $0...first + $0 }
    }
}

/// A query in the form in which rows store its values.
struct FactFilter {
    let tenant: Int64
    /// Hashes to look up in the index.
    let hashes: [FactHash]
    private let query: FactQuery
    private let recipient: [UInt8]?
    private let kinds: [[UInt8]]?
    /// Marks to look for in block summaries. A block that may match has at least one of them.
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

    /// True if block summaries narrow the search further than hashes alone.
    var needsBlocks: Bool {
        hashes.isEmpty || kinds != nil || query.from != nil || query.until != nil
    }

    /// Number of chapters that one index query reads. It is lower if two kinds of rows are read,
    /// because then most pages are full sooner.
    var chaptersAtOnce: Int { needsBlocks && !hashes.isEmpty ? 16 : 64 }

    func mayMatch(_ block: RowBlock) -> Bool {
        block.mayHave(from: query.from, until: query.until) && marks.contains(where: block.has)
    }

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
