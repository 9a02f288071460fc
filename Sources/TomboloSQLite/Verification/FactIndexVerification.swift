import TomboloCore

/// Whether the index of each chapter of facts leads to all that is in it, and to nothing else.
struct FactIndexVerification: ~Copyable {
    private let cut: Int64
    /// Chapters before this one have rows.
    private let openChapter: Int64
    private let blocks: Statement
    private let bucket: Statement
    /// What the facts of the chapter come to, as far as they were met.
    private var built = FactChapter()
    private var chapter: Int64
    /// Places in the chapter where a whole fact is.
    private var whole: Set<Int64> = []

    init(_ cut: LogCut, _ connection: borrowing Connection) throws(SQLiteError) {
        let newest = try connection.integer("SELECT max(key) FROM fact")
        let last = max(cut.fact, min(newest, LogSchema.numberMax))
        let blocks = try connection.prepare(LogTable.factBlock.one)
        let bucket = try connection.prepare(LogTable.factBucket.one)
        self.cut = cut.fact
        self.blocks = blocks
        self.bucket = bucket
        openChapter = last / FactIndex.size
        chapter = cut.fact / FactIndex.size
    }

    /// Takes in the next fact, the present row. Answers what is wrong with the chapters before its
    /// own.
    mutating func follow(_ facts: borrowing Statement) throws(SQLiteError) -> [String] {
        let seq = facts.key
        guard FactIndex.isPlace(seq) else { return [] }
        let wrong = try close(before: FactIndex.chapter(of: seq))
        if facts.read({ built.add($0, $1) }) { whole.insert((seq - 1) % FactIndex.size) }
        return wrong
    }

    /// Answers what is wrong with the rest, after all facts were met.
    mutating func finish(_ connection: borrowing Connection) throws(SQLiteError) -> [String] {
        var wrong = try close(before: openChapter)
        let first = FactIndex.first(of: cut / FactIndex.size)
        let end = FactIndex.first(of: openChapter)
        let keys = (
            FactIndex.key(cut / FactIndex.size, 0), FactIndex.key(openChapter, 0)
        )
        let rest = try connection.integer(
            """
            SELECT (SELECT count(*) FROM fact_block WHERE key < \(first) OR key >= \(end))
                + (SELECT count(*) FROM fact_index WHERE key < \(keys.0) OR key >= \(keys.1))
            """)
        if rest > 0 { wrong.append("the index of facts has \(rest) rows of facts that are gone") }
        return wrong
    }

    private mutating func close(before next: Int64) throws(SQLiteError) -> [String] {
        guard chapter < next else { return [] }
        // Nothing has to lead to chapters without a fact, which are missing.
        let wrong = chapter < openChapter ? try check() : []
        (built, whole) = (FactChapter(), [])
        chapter = next
        return wrong
    }

    private func check() throws(SQLiteError) -> [String] {
        var wrong: [String] = []
        let range = "\(FactIndex.first(of: chapter)) to \(FactIndex.last(of: chapter))"
        let first = FactIndex.first(of: chapter)
        if let stored = try blocks.find(first, FactChapter.init) {
            for (index, block) in stored.blocks.enumerated()
            where !block.covers(built.blocks[index]) {
                wrong.append("the index of facts \(range): block \(index) passes over a fact")
            }
            let isWhole = whole.count == Int(FactIndex.size)
            if isWhole ? stored.bytes != built.bytes : stored.bytes < built.bytes {
                wrong.append(
                    "the index of facts \(range): it counts \(stored.bytes) bytes, not "
                        + "\(built.bytes)")
            }
        } else {
            wrong.append("the index of facts \(range): a row is damaged")
        }
        let entries = Dictionary(grouping: built.entries, by: \.bucket)
        for number in 0..<Int(FactIndex.buckets) {
            if let line = try check(number, entries[number] ?? []) {
                wrong.append("the index of facts \(range): \(line)")
            }
        }
        return wrong
    }

    private func check(_ number: Int, _ entries: [FactEntry]) throws(SQLiteError) -> String? {
        let key = FactIndex.key(chapter, Int64(number))
        guard let row = try bucket.find(key, FactBucket.entries) else { return "a row is damaged" }
        let expected = Set(entries.map(\.stored))
        var missing = expected
        for index in 0..<row.count / FactEntry.size {
            let bits = row.withUnsafeBytes { FactEntry.load(index, from: $0) }
            missing.remove(bits)
            let offset = FactEntry.offset(bits)
            // What is damaged or cut may have been right.
            if !expected.contains(bits), whole.contains(offset) {
                return "it leads to fact \(FactIndex.first(of: chapter) + offset), which it is not"
            }
        }
        guard let lost = missing.min() else { return nil }
        let offset = FactEntry.offset(lost)
        return "nothing leads to fact \(FactIndex.first(of: chapter) + offset)"
    }
}
