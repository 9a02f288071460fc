import TomboloCore

/// What the index says of facts that are erased: it goes with their bodies.
struct FactIndexErasing {
    private struct Change {
        /// Of facts that were about a recipient.
        var entries: [FactEntry] = []
        var bytes: Int64 = 0
    }

    private let tenant: Int64
    private var changes: [Int64: Change] = [:]

    init(tenant: Int64) { self.tenant = tenant }

    /// The body of the fact goes, `{}` stays.
    mutating func note(_ fact: RecordedFact) {
        let chapter = FactIndex.chapter(of: fact.seq)
        changes[chapter, default: Change()].bytes += Int64(fact.fact.body.count - 2)
        fact.fact.body.withUnsafeBytes { body in
            guard let key = FactRecipient.key(in: body) else { return }
            let entry = FactEntry(
                FactHash(recipient: key, tenant: tenant), offset: (fact.seq - 1) % FactIndex.size)
            changes[chapter, default: Change()].entries.append(entry)
        }
    }

    /// Takes it out of the index; the chapter `number` has no rows yet, and is `open`. What is
    /// damaged there is made anew.
    func store(
        _ number: Int64, _ open: inout FactChapter, _ connection: borrowing Connection
    ) throws(SQLiteError) {
        guard !changes.isEmpty else { return }
        let rows = try FactIndexRows(connection)
        var buffer = RowBuffer()
        for (chapter, change) in changes.sorted(by: { $0.key < $1.key }) {
            if chapter >= number {
                open.forget(change.entries, bytes: change.bytes)
            } else if try !edit(chapter, change, rows, into: &buffer, connection) {
                try rows.insert(FactChapter.read(chapter, connection), chapter, into: &buffer)
            }
        }
    }

    /// False where a row is damaged or missing.
    private func edit(
        _ chapter: Int64, _ change: Change, _ rows: borrowing FactIndexRows,
        into buffer: inout RowBuffer, _ connection: borrowing Connection
    ) throws(SQLiteError) -> Bool {
        let blocks = try connection.prepare(LogTable.factBlock.one)
        guard var found = try blocks.find(FactIndex.first(of: chapter), FactChapter.init) else {
            return false
        }
        found.forget([], bytes: change.bytes)
        try rows.insertBlocks(of: found, chapter, into: &buffer)
        let selection = try connection.prepare(LogTable.factBucket.one)
        for (bucket, entries) in Dictionary(grouping: change.entries, by: \.bucket)
            .sorted(by: { $0.key < $1.key })
        {
            let key = FactIndex.key(chapter, Int64(bucket))
            guard let found = try selection.find(key, FactBucket.entries) else { return false }
            let left = FactBucket.entries(found, without: entries)
            try rows.insert(left, key: key, into: &buffer)
        }
        return true
    }
}
