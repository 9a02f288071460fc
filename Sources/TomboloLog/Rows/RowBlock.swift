import TomboloCore

/// What a few hundred neighbours in a table have in common: when they were recorded, and marks of
/// what is among them.
///
/// It may say "perhaps" where the answer is no, never no where it is yes.
struct RowBlock: BitwiseCopyable {
    private var earliest: Int64 = .max
    private var latest: Int64 = .min
    /// 256 bits, for a few dozen marks.
    private var marks: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    @inline(__always)
    mutating func add(recordedAt: Int64) {
        earliest = min(earliest, recordedAt)
        latest = max(latest, recordedAt)
    }

    /// Marks that something is among them; the upper eight bits of `hash` choose the bit.
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
