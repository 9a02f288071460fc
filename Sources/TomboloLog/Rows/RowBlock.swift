import TomboloCore

/// Summary of `size` consecutive events or facts: the range of their times, and marks of their
/// tenants and kinds. A page with a filter uses it to skip blocks without a match.
///
/// `has` and `mayHave` may be true without a match, but are never false if there is one.
struct RowBlock: BitwiseCopyable {
    /// Number of rows in a block. If a page's 100 matches lie in 100 blocks, 25,600 rows are read.
    static let size: Int64 = 256
    /// The blocks of an empty chapter.
    static let none = [RowBlock](repeating: RowBlock(), count: Int(LogChapter.size / size))

    private var earliest: Int64 = .max
    private var latest: Int64 = .min
    /// The marks: a Bloom filter with one hash function, 256 bits for a few dozen marks.
    private var marks: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    /// The summaries in a chapter's row, from `start` to its end; nil if the length is wrong.
    static func all(in row: RawSpan, from start: Int) -> [RowBlock]? {
        guard row.byteCount == start + none.count * MemoryLayout<RowBlock>.stride else {
            return nil
        }
        return row.numbers(from: start, count: none.count)
    }

    /// Index in the chapter of the block in which `seq` lies.
    @inline(__always)
    static func index(of seq: Int64) -> Int { Int((seq - 1) % LogChapter.size / size) }

    /// Adds a row with this time and this mark.
    @inline(__always)
    mutating func add(recordedAt: Int64, _ hash: UInt64) {
        earliest = min(earliest, recordedAt)
        latest = max(latest, recordedAt)
        mark(hash)
    }

    /// Adds a mark. The upper eight bits of `hash` choose the bit.
    @inline(__always)
    mutating func mark(_ hash: UInt64) {
        let word = UInt64(1) << (hash >> 56 & 63)
        switch hash >> 62 {
        case 0: marks.0 |= word
        case 1: marks.1 |= word
        case 2: marks.2 |= word
        default: marks.3 |= word
        }
    }

    /// True if the block may have a row with this mark.
    func has(_ hash: UInt64) -> Bool {
        let word = UInt64(1) << (hash >> 56 & 63)
        return switch hash >> 62 {
        case 0: marks.0 & word != 0
        case 1: marks.1 & word != 0
        case 2: marks.2 & word != 0
        default: marks.3 & word != 0
        }
    }

    /// True if this summary includes everything that `other` includes.
    func covers(_ other: RowBlock) -> Bool {
        earliest <= other.earliest && latest >= other.latest
            && marks.0 & other.marks.0 == other.marks.0
            && marks.1 & other.marks.1 == other.marks.1
            && marks.2 & other.marks.2 == other.marks.2
            && marks.3 & other.marks.3 == other.marks.3
    }

    /// True if the block may have a row from `from` until before `until`.
    func mayHave(from: Instant?, until: Instant?) -> Bool {
        if let from, latest < from.nanoseconds { return false }
        if let until, earliest >= until.nanoseconds { return false }
        return true
    }
}
