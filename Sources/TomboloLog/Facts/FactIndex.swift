import TomboloEventLog

/// Index of facts by activity, device, kind and time, in chapters of `size` consecutive facts. A
/// chapter's rows are written in the transaction that fills it; later only an erasure changes them.
///
/// A query by activity or device reads one small row per chapter: ten million facts have 611
/// chapters. Queries by kind or time read the chapters' block summaries. If a row is missing or
/// damaged, the facts themselves are read. This also applies to the newest chapter, which has no
/// rows yet.
enum FactIndex {
    /// Number of facts in a chapter. Chapter n has the sequences n · size + 1 to (n + 1) · size.
    static let size = LogChapter.size
    /// Number of facts in a block.
    static let blockSize = RowBlock.size
    /// Number of rows that a chapter has in the table `factBucket`, about 2.5 kB each.
    static let buckets: Int64 = 64

    /// True if a fact may have this sequence.
    static func isPlace(_ seq: Int64) -> Bool { (1...LogTable.numberMax).contains(seq) }

    static func chapter(of seq: Int64) -> Int64 { (seq - 1) / size }
    static func first(of chapter: Int64) -> Int64 { chapter * size + 1 }
    static func last(of chapter: Int64) -> Int64 { (chapter + 1) * size }

    static func key(_ chapter: Int64, _ bucket: Int64) -> Int64 { chapter * buckets + bucket }

    /// Deletes the index rows of chapters whose facts, all up to `seq`, were cut.
    static func cut(through seq: Int64, _ engine: any LogWriting) throws(EventLogError) {
        let chapters = seq / size
        guard chapters > 0 else { return }
        try engine.delete(.factBlock, 0...first(of: chapters) - 1, isPersonal: true)
        try engine.delete(.factBucket, 0...key(chapters, 0) - 1, isPersonal: true)
    }
}

/// Hash (32 bits) to find facts: of an activity, or of a tenant's device or channel. A found fact
/// is compared itself, so collisions do no harm.
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

    /// Number of the chapter's bucket that has entries with this hash.
    var bucket: Int64 { Int64(value >> 26) }

    // MARK: Marks in blocks

    /// Mark in a block summary: the tenant has facts of any kind there.
    @inline(__always)
    static func mark(_ tenant: Int64) -> UInt64 { UInt64(mix(UInt64(bitPattern: tenant))) << 32 }

    /// Mark in a block summary: the tenant has facts of this kind there.
    @inline(__always)
    static func mark(_ tenant: Int64, _ kind: UnsafeRawBufferPointer) -> UInt64 {
        var sum = RowChecksum(.factIndex)
        sum.add(kind)
        return UInt64(mix(UInt64(sum.value) << 32 ^ UInt64(bitPattern: tenant))) << 32
    }
}

/// An entry in a bucket, five bytes: the lower 26 bits of the hash, and the fact's offset in the
/// chapter. A bucket's entries are in the order of their facts.
struct FactEntry {
    static let size = 5
    static let offsetMask: UInt64 = 0x3fff

    /// The hash in the bits from 14 up, and the offset below. The stored form leaves out the upper
    /// six bits of the hash, because the bucket's number implies them.
    var bits: UInt64

    @inline(__always)
    init(_ hash: FactHash, offset: Int64) {
        bits = UInt64(hash.value) << 14 | UInt64(offset)
    }

    var bucket: Int { Int(bits >> 40) }
    /// The stored form: without the bits that the bucket's number implies.
    var stored: UInt64 { bits & 0xff_ffff_ffff }

    /// The offset in the chapter, from the stored form.
    @inline(__always)
    static func offset(_ stored: UInt64) -> Int64 { Int64(stored & offsetMask) }
}
