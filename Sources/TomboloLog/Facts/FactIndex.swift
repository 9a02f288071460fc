import TomboloCore
import TomboloEventLog

/// What leads to facts by activity, device, kind and time: made for chapters of `size` neighbours,
/// each in the transaction that fills it, and never changed but by an erasure.
///
/// A question by activity or device reads one small row for each chapter: ten million facts are 611
/// of them. A question by kind or time reads what the blocks of a chapter have in common. Where a
/// row is missing or damaged the facts themselves are read, and so are those of the newest chapter,
/// which has no rows yet.
enum FactIndex {
    /// Facts at the sequences n · size + 1 up to (n + 1) · size are chapter n.
    static let size = LogChapter.size
    /// Facts that share a block.
    static let blockSize = RowBlock.size
    /// A chapter has so many rows in the table `factBucket`, about 2.5 kB each.
    static let buckets: Int64 = 64

    /// Whether a fact can have that sequence.
    static func isPlace(_ seq: Int64) -> Bool { (1...LogTable.numberMax).contains(seq) }

    static func chapter(of seq: Int64) -> Int64 { (seq - 1) / size }
    static func first(of chapter: Int64) -> Int64 { chapter * size + 1 }
    static func last(of chapter: Int64) -> Int64 { (chapter + 1) * size }

    /// The key of a chapter's bucket.
    static func key(_ chapter: Int64, _ bucket: Int64) -> Int64 { chapter * buckets + bucket }

    /// Deletes the rows of chapters that were cut whole, up to and with fact `seq`.
    static func cut(through seq: Int64, _ engine: any LogWriting) throws(EventLogError) {
        let chapters = seq / size
        guard chapters > 0 else { return }
        try engine.delete(.factBlock, 0...first(of: chapters) - 1, isPersonal: true)
        try engine.delete(.factBucket, 0...key(chapters, 0) - 1, isPersonal: true)
    }
}

/// What facts are found by, as 32 bits: an activity, or a device or channel of a tenant. What a
/// tenant has alone is found by its facts, which are compared themselves.
struct FactHash: Equatable {
    let value: UInt32

    @inline(__always)
    init(activity: Int64) { value = Self.mix(UInt64(bitPattern: activity)) }

    @inline(__always)
    init(recipient key: UnsafeRawBufferPointer, tenant: Int64) {
        var sum = RowChecksum(.factIndex)
        sum.add(tenant)
        sum.add(key)
        value = Self.mix(UInt64(sum.value) << 32 | 1)
    }

    @inline(__always)
    private static func mix(_ number: UInt64) -> UInt32 {
        var number = (number ^ number >> 30) &* 0xbf58_476d_1ce4_e5b9
        number = (number ^ number >> 27) &* 0x94d0_49bb_1331_11eb
        return UInt32(truncatingIfNeeded: (number ^ number >> 31) >> 16)
    }

    /// Which row of a chapter has it.
    var bucket: Int64 { Int64(value >> 26) }

    // MARK: Marks of blocks

    /// Of a tenant's facts of any kind.
    @inline(__always)
    static func mark(_ tenant: Int64) -> UInt64 { UInt64(mix(UInt64(bitPattern: tenant))) << 32 }

    /// Of a tenant's facts of one kind.
    @inline(__always)
    static func mark(_ tenant: Int64, _ kind: UnsafeRawBufferPointer) -> UInt64 {
        var sum = RowChecksum(.factIndex)
        sum.add(kind)
        return UInt64(mix(UInt64(sum.value) << 32 ^ UInt64(bitPattern: tenant))) << 32
    }
}

/// One entry of a bucket: five bytes, the lower 26 bits of the hash and the place in the chapter.
/// Those of a bucket are in the order of their facts.
struct FactEntry {
    static let size = 5
    static let offsetMask: UInt64 = 0x3fff

    /// The bits of `bits` from 14 up are the hash, all 32 of it; on the disk the bucket says the
    /// upper six.
    var bits: UInt64

    @inline(__always)
    init(_ hash: FactHash, offset: Int64) {
        bits = UInt64(hash.value) << 14 | UInt64(offset)
    }

    var bucket: Int { Int(bits >> 40) }
    /// Without what the bucket says.
    var stored: UInt64 { bits & 0xff_ffff_ffff }

    /// The place in the chapter that stored bits say.
    @inline(__always)
    static func offset(_ stored: UInt64) -> Int64 { Int64(stored & offsetMask) }
}
