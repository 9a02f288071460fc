import TomboloCore

/// What `size` neighbours of the log, or of its facts, have in common, by which a filtered page
/// passes over those that hold nothing of it: when they were recorded, and marks of what is among
/// them.
///
/// It may say "perhaps" where the answer is no, never no where it is yes.
struct RowBlock: BitwiseCopyable {
    /// A page of 100 rows that lie in as many blocks reads 25,600 rows.
    static let size: Int64 = 256
    /// The blocks of a chapter without rows.
    static let none = [RowBlock](repeating: RowBlock(), count: Int(LogChapter.size / size))

    private var earliest: Int64 = .max
    private var latest: Int64 = .min
    /// 256 bits, for a few dozen marks.
    private var marks: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    /// Those of a chapter, at the end of its row; nil where the row has another length.
    static func all(in row: RawSpan, from start: Int) -> [RowBlock]? {
        guard row.byteCount == start + none.count * MemoryLayout<RowBlock>.stride else {
            return nil
        }
        return row.numbers(from: start, count: none.count)
    }

    /// Among those of its chapter, the one in which a sequence stands.
    @inline(__always)
    static func index(of seq: Int64) -> Int { Int((seq - 1) % LogChapter.size / size) }

    /// Takes in a row; `hash` marks what is in it.
    @inline(__always)
    mutating func add(recordedAt: Int64, _ hash: UInt64) {
        earliest = min(earliest, recordedAt)
        latest = max(latest, recordedAt)
        mark(hash)
    }

    /// Marks what is among them; the upper eight bits of `hash` choose the bit.
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

    /// Whether that may be among them.
    func has(_ hash: UInt64) -> Bool {
        let word = UInt64(1) << (hash >> 56 & 63)
        return switch hash >> 62 {
        case 0: marks.0 & word != 0
        case 1: marks.1 & word != 0
        case 2: marks.2 & word != 0
        default: marks.3 & word != 0
        }
    }

    /// Whether it is right for all that `other` has.
    func covers(_ other: RowBlock) -> Bool {
        earliest <= other.earliest && latest >= other.latest
            && marks.0 & other.marks.0 == other.marks.0
            && marks.1 & other.marks.1 == other.marks.1
            && marks.2 & other.marks.2 == other.marks.2
            && marks.3 & other.marks.3 == other.marks.3
    }

    /// Whether one of them may be from the one instant until before the other.
    func mayHave(from: Instant?, until: Instant?) -> Bool {
        if let from, latest < from.nanoseconds { return false }
        if let until, earliest >= until.nanoseconds { return false }
        return true
    }
}
