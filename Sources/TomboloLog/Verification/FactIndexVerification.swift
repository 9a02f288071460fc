import TomboloCore
import TomboloEventLog

/// Checks that the index of each chapter leads to all its facts, and to nothing else.
struct FactIndexVerification {
    private let cut: Int64
    /// The newest chapter; only earlier chapters have rows.
    private let openChapter: Int64
    private let engine: any LogReading
    /// The chapter as rebuilt from its facts so far.
    private var built = FactChapter()
    private var chapter: Int64
    /// Offsets in the chapter with an undamaged fact.
    private var whole: Set<Int64> = []

    init(_ cut: LogCut, _ engine: any LogReading) throws(EventLogError) {
        let last = try cut.newest(engine).fact
        self.cut = cut.fact
        self.engine = engine
        openChapter = last / FactIndex.size
        chapter = cut.fact / FactIndex.size
    }

    /// Adds the next fact. Calls `wrong` for each error in the chapters before its own.
    mutating func follow(
        _ seq: Int64, _ row: RawSpan, _ wrong: (String) -> Void
    ) throws(EventLogError) {
        try close(before: FactIndex.chapter(of: seq), wrong)
        if built.add(seq, row) { whole.insert((seq - 1) % FactIndex.size) }
    }

    /// Call it after all facts. Calls `wrong` for each error in the rest.
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
        // A chapter without facts was cut and needs no index.
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
            // An entry for a damaged or cut fact may have been right.
            if !expected.contains(bits), whole.contains(offset) {
                return "it leads to fact \(FactIndex.first(of: chapter) + offset), which it is not"
            }
        }
        guard let lost = missing.min() else { return nil }
        let offset = FactEntry.offset(lost)
        return "nothing leads to fact \(FactIndex.first(of: chapter) + offset)"
    }
}
