import TomboloEventLog

/// Bytes of each full chapter of facts, oldest first, to limit the space that facts take. The
/// newest, incomplete chapter is not counted.
struct FactSizes {
    private var chapters: [(number: Int64, bytes: Int64)] = []
    private(set) var total: Int64 = 0

    init() {}

    /// Reads the sizes from the index. If a chapter's row is damaged, its facts are counted.
    init(_ engine: any LogReading) throws(EventLogError) {
        try engine.forEach(.factBlock) { first, row throws(EventLogError) in
            guard FactIndex.isPlace(first) else { return }
            let number = FactIndex.chapter(of: first)
            if let chapter = FactChapter(first, row) {
                add(number, chapter.bytes)
            } else {
                add(number, try FactChapter(number, engine).bytes)
            }
        }
    }

    /// Adds a full chapter.
    mutating func add(_ number: Int64, _ bytes: Int64) {
        chapters.append((number, bytes))
        total += bytes
    }

    /// Removes the chapters whose facts, all up to `seq`, were cut.
    mutating func cut(through seq: Int64) {
        while let first = chapters.first, FactIndex.last(of: first.number) <= seq {
            total -= first.bytes
            chapters.removeFirst()
        }
    }

    /// The last fact to delete so that the remaining full chapters have at most `bytes`; 0 if no
    /// fact must be deleted.
    func excess(over bytes: Int64) -> Int64 {
        var (left, last) = (total, Int64(0))
        for chapter in chapters {
            guard left > bytes else { break }
            left -= chapter.bytes
            last = FactIndex.last(of: chapter.number)
        }
        return last
    }
}
