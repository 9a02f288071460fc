import TomboloCore
import TomboloEventLog

/// What the index says of facts that are erased: it goes with their bodies.
struct FactIndexErasing {
    /// The entries are of facts that were about a recipient.
    private typealias Change = (entries: [FactEntry], bytes: Int64)

    private let tenant: Int64
    private var changes: [Int64: Change] = [:]

    init(tenant: Int64) { self.tenant = tenant }

    /// The body of the fact goes, `{}` stays.
    mutating func note(_ fact: RecordedFact) {
        let chapter = FactIndex.chapter(of: fact.seq)
        changes[chapter, default: ([], 0)].bytes += Int64(fact.fact.body.count - 2)
        fact.fact.body.withUnsafeBytes { body in
            guard let key = FactRecipient.key(in: body) else { return }
            let entry = FactEntry(
                FactHash(recipient: key, tenant: tenant), offset: (fact.seq - 1) % FactIndex.size)
            changes[chapter, default: ([], 0)].entries.append(entry)
        }
    }

    /// Takes it out of the index, before it leaves the facts; the chapter `number` has no rows yet,
    /// and is `open`. What is damaged there is made anew.
    func store(
        _ number: Int64, _ open: inout FactChapter, _ engine: any LogWriting
    ) throws(EventLogError) {
        var buffer = RowBuffer()
        for (chapter, change) in changes.sorted(by: { $0.key < $1.key }) {
            if chapter >= number {
                open.forget(change.entries, bytes: change.bytes)
            } else if try !edit(chapter, change, into: &buffer, engine) {
                var made = try FactChapter(chapter, engine)
                made.forget(change.entries, bytes: change.bytes)
                try made.store(chapter, into: &buffer, engine)
            }
        }
    }

    /// False where a row is damaged or missing.
    private func edit(
        _ chapter: Int64, _ change: Change, into buffer: inout RowBuffer,
        _ engine: any LogWriting
    ) throws(EventLogError) -> Bool {
        let first = FactIndex.first(of: chapter)
        guard var found = try engine.row(.factBlock, first, FactChapter.init) else { return false }
        found.forget([], bytes: change.bytes)
        try found.storeBlocks(chapter, into: &buffer, engine)
        for (bucket, entries) in Dictionary(grouping: change.entries, by: \.bucket)
            .sorted(by: { $0.key < $1.key })
        {
            let key = FactIndex.key(chapter, Int64(bucket))
            guard let found = try engine.row(.factBucket, key, FactBucket.entries) else {
                return false
            }
            let left = FactBucket.entries(found, without: entries)
            try engine.put(.factBucket, key, buffer.row(.factIndex, key, (), left))
        }
        return true
    }
}
