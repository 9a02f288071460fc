import TomboloCore
import TomboloEventLog

/// What the full chapters of facts count against the bytes that facts may take, oldest first. The
/// newest chapter is not among them.
struct FactSizes {
    private var chapters: [(number: Int64, bytes: Int64)] = []
    private(set) var total: Int64 = 0

    init() {}

    /// Reads them. A chapter whose row is damaged is counted anew.
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

    /// A chapter is full.
    mutating func add(_ number: Int64, _ bytes: Int64) {
        chapters.append((number, bytes))
        total += bytes
    }

    /// Facts were cut, up to and with that one.
    mutating func cut(through seq: Int64) {
        while let first = chapters.first, FactIndex.last(of: first.number) <= seq {
            total -= first.bytes
            chapters.removeFirst()
        }
    }

    /// The last fact that goes if chapters go until the others count at most `bytes`; 0 where none
    /// goes.
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
