import TomboloEventLog

/// Checks that the index of each chapter points to all its facts, and only to them.
struct FactIndexVerification {
    private let cut: Int64
    /// Number of the newest chapter. Only earlier chapters have index rows.
    private let openChapter: Int64
    private let engine: any LogReading
    /// The current chapter, rebuilt from the facts read so far.
    private var built = FactChapter()
    private var chapter: Int64
    /// Offsets in the chapter of the facts that are undamaged.
    private var whole: Set<Int64> = []

    init(_ cut: LogCut, _ engine: any LogReading) throws(EventLogError) {
        let last = try cut.newest(engine).fact
        self.cut = cut.fact
        self.engine = engine
        openChapter = last / FactIndex.size
        chapter = cut.fact / FactIndex.size
    }

    /// Adds the next fact. If it begins a new chapter, checks those before it and calls `wrong` for
    /// each error.
    mutating func follow(
        _ seq: Int64, _ row: RawSpan, _ wrong: (String) -> Void
    ) throws(EventLogError) {
        try close(before: FactIndex.chapter(of: seq), wrong)
        if built.add(seq, row) { whole.insert((seq - 1) % FactIndex.size) }
    }

    /// Call it after the last fact. Checks the rest and calls `wrong` for each error.
    mutating func finish(_ wrong: (String) -> Void) throws(EventLogError) {
        try close(before: openChapter, wrong)
        var rest = 0
        for (table, first, end) in [
            (
                LogTable.factBlock, FactIndex.first(of: cut / FactIndex.size),
                FactIndex.first(of: openChapter)
            ),
            (.factBucket, FactIndex.key(cut / FactIndex.size, 0), FactIndex.key(openChapter, 0)),
        ] {
            for keys in [.min...first - 1, end...Int64.max] {
                try engine.lengths(table, keys) { _, _ in
                    rest += 1
                    return true
                }
            }
        }
        if rest > 0 { wrong("the index of facts has \(rest) rows of facts that are gone") }
    }

    private mutating func close(
        before next: Int64, _ wrong: (String) -> Void
    ) throws(EventLogError) {
        guard chapter < next else { return }
        // The open chapter has no index rows yet.
        if chapter < openChapter { try check(wrong) }
        (built, whole) = (FactChapter(), [])
        chapter = next
    }

    private func check(_ wrong: (String) -> Void) throws(EventLogError) {
        let first = FactIndex.first(of: chapter)
        let index = "the index of facts \(first) to \(FactIndex.last(of: chapter))"
        if let stored = try engine.row(.factBlock, first, FactChapter.init) {
            for (number, block) in stored.blocks.enumerated()
            where !block.covers(built.blocks[number]) {
                wrong("\(index): block \(number) passes over a fact")
            }
            let isWhole = whole.count == Int(FactIndex.size)
            if isWhole ? stored.bytes != built.bytes : stored.bytes < built.bytes {
                wrong("\(index): it counts \(stored.bytes) bytes, not \(built.bytes)")
            }
        } else {
            wrong("\(index): a row is damaged")
        }
        let entries = Dictionary(grouping: built.entries, by: \.bucket)
        var rows: [Int64: [UInt8]] = [:]
        let keys = Array(FactIndex.key(chapter, 0)..<FactIndex.key(chapter + 1, 0))
        try engine.rows(.factBucket, keys) { key, row in
            rows[key] = FactBucket.entries(key, row)
            return true
        }
        for (number, key) in keys.enumerated() {
            if let line = check(rows[key], entries[number] ?? []) { wrong("\(index): \(line)") }
        }
    }

    private func check(_ row: [UInt8]?, _ entries: [FactEntry]) -> String? {
        guard let row else { return "a row is damaged" }
        let expected = Set(entries.map(\.stored))
        var missing = expected
        for bits in FactBucket.stored(in: row) {
            missing.remove(bits)
            let offset = FactEntry.offset(bits)
            // The entry of a damaged or cut fact cannot be checked.
            if !expected.contains(bits), whole.contains(offset) {
                return "it leads to fact \(FactIndex.first(of: chapter) + offset), which it is not"
            }
        }
        guard let lost = missing.min() else { return nil }
        let offset = FactEntry.offset(lost)
        return "nothing leads to fact \(FactIndex.first(of: chapter) + offset)"
    }
}
