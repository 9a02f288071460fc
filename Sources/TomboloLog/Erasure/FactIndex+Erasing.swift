import TomboloCore
import TomboloEventLog

extension FactIndex {
    /// Removes the recipients' entries of a tenant's erased facts, and subtracts the bytes of the
    /// erased bodies. Entries by activity stay. The caller replaces each body by `{}`. `open` is
    /// chapter `number`, which has no rows yet. A chapter with damaged rows is rebuilt.
    static func erase(
        _ facts: [RecordedFact], tenant: Int64, from number: Int64, _ open: inout FactChapter,
        _ engine: any LogWriting
    ) throws(EventLogError) {
        var buffer = RowBuffer()
        let chapters = Dictionary(grouping: facts) { chapter(of: $0.seq) }
        for (chapter, facts) in chapters.sorted(by: { $0.key < $1.key }) {
            let bytes = facts.reduce(0) { $0 + Int64($1.fact.body.count - 2) }
            let entries = facts.compactMap { fact in
                fact.fact.body.withUnsafeBytes { body in
                    FactRecipient.key(in: body).map {
                        FactEntry(
                            FactHash(recipient: $0, tenant: tenant), offset: (fact.seq - 1) % size)
                    }
                }
            }
            if chapter >= number {
                open.forget(entries, bytes: bytes)
            } else if try !edit(chapter, without: entries, bytes, into: &buffer, engine) {
                var made = try FactChapter(chapter, engine)
                made.forget(entries, bytes: bytes)
                try made.store(chapter, into: &buffer, engine)
            }
        }
    }

    /// Edits the rows of one chapter. Returns false if a row is damaged or missing.
    private static func edit(
        _ chapter: Int64, without entries: [FactEntry], _ bytes: Int64,
        into buffer: inout RowBuffer, _ engine: any LogWriting
    ) throws(EventLogError) -> Bool {
        let first = first(of: chapter)
        guard var found = try engine.row(.factBlock, first, FactChapter.init) else { return false }
        found.forget([], bytes: bytes)
        try found.storeBlocks(chapter, into: &buffer, engine)
        let buckets = Dictionary(grouping: entries, by: \.bucket)
        for (bucket, entries) in buckets.sorted(by: { $0.key < $1.key }) {
            let key = key(chapter, Int64(bucket))
            guard let found = try engine.row(.factBucket, key, FactBucket.entries) else {
                return false
            }
            let left = FactBucket.entries(found, without: entries)
            try engine.put(.factBucket, key, buffer.row(.factIndex, key, (), left))
        }
        return true
    }
}
