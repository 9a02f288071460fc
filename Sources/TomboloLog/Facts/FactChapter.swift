import TomboloCore
import TomboloEventLog

/// One chapter of facts in memory: see `FactIndex`.
struct FactChapter {
    private(set) var blocks = RowBlock.none
    /// Total bytes of the chapter's facts: see `NewFact.bytes`.
    private(set) var bytes: Int64 = 0
    private(set) var entries: [FactEntry] = []

    init() {}

    /// Adds the fact at `seq`.
    @inline(__always)
    mutating func add(
        _ seq: Int64, tenant: Int64, activity: Int64?, recordedAt: Int64,
        kind: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer
    ) {
        let offset = (seq - 1) % FactIndex.size
        let place = RowBlock.index(of: seq)
        var block = blocks[place]
        block.add(recordedAt: recordedAt, FactHash.mark(tenant))
        block.mark(FactHash.mark(tenant, kind))
        blocks[place] = block
        bytes += NewFact.bytes(kind: kind.count, body: body.count)
        if let activity {
            entries.append(FactEntry(FactHash(activity: activity), offset: offset))
        }
        if let key = FactRecipient.key(in: body) {
            entries.append(FactEntry(FactHash(recipient: key, tenant: tenant), offset: offset))
        }
    }

    mutating func add(_ seq: Int64, _ fact: borrowing NewFact, tenant: Int64) {
        withBytes(of: fact.kind) { kind in
            fact.body.withUnsafeBytes { body in
                add(
                    seq, tenant: tenant, activity: fact.activity?.rawValue,
                    recordedAt: fact.recordedAt.nanoseconds, kind: kind, body: body)
            }
        }
    }

    /// Removes the entries of erased facts, and subtracts their bytes.
    mutating func forget(_ gone: [FactEntry], bytes count: Int64) {
        bytes -= count
        guard !gone.isEmpty else { return }
        let bits = Set(gone.map(\.bits))
        entries.removeAll { bits.contains($0.bits) }
    }

    // MARK: Its rows

    func store(
        _ chapter: Int64, into buffer: inout RowBuffer, _ engine: any LogWriting
    ) throws(EventLogError) {
        try storeBlocks(chapter, into: &buffer, engine)
        var buckets = [[UInt8]](repeating: [], count: Int(FactIndex.buckets))
        for entry in entries {
            withUnsafeBytes(of: entry.bits) { buckets[entry.bucket] += $0[..<FactEntry.size] }
        }
        for (bucket, bytes) in buckets.enumerated() {
            let key = FactIndex.key(chapter, Int64(bucket))
            try engine.put(.factBucket, key, buffer.row(.factIndex, key, (), bytes))
        }
    }

    /// Writes the row of `factBlock`: the bytes of the facts, and the blocks.
    func storeBlocks(
        _ chapter: Int64, into buffer: inout RowBuffer, _ engine: any LogWriting
    ) throws(EventLogError) {
        let first = FactIndex.first(of: chapter)
        try engine.put(.factBlock, first, buffer.row(.factBlock, first, bytes, blocks))
    }

    /// The chapter from its row of `factBlock`, without entries; nil if the row is damaged.
    init?(_ first: Int64, _ row: RawSpan) {
        guard RowChecksum.isRight(.factBlock, first, row), let bytes = row.numbers(Int64.self),
            let blocks = RowBlock.all(
                in: row, from: RowChecksum.bytes + MemoryLayout<Int64>.size)
        else { return nil }
        (self.bytes, self.blocks) = (bytes, blocks)
    }

    // MARK: From its facts

    /// Builds the chapter from the stored facts. Damaged facts are skipped, because no query
    /// returns them.
    init(_ chapter: Int64, _ engine: any LogReading) throws(EventLogError) {
        let seqs = FactIndex.first(of: chapter)...FactIndex.last(of: chapter)
        try engine.scan(.fact, seqs) { seq, row in
            _ = add(seq, row)
            return true
        }
    }

    /// Adds the row of a fact. Returns false if it is damaged.
    mutating func add(_ seq: Int64, _ row: RawSpan) -> Bool {
        guard let numbers = FactRow.numbers(seq, row) else { return false }
        FactRow.withContent(numbers, row) { kind, body in
            add(
                seq, tenant: numbers.tenant, activity: numbers.activity,
                recordedAt: numbers.recordedAt, kind: kind, body: body)
        }
        return true
    }
}

/// A row of the table `factBucket`: index entries for some activities and devices in one chapter.
enum FactBucket {
    /// The entries' bytes; nil if the row is damaged.
    static func entries(_ key: Int64, _ row: RawSpan) -> [UInt8]? {
        guard (row.byteCount - RowChecksum.bytes) % FactEntry.size == 0,
            RowChecksum.isRight(.factIndex, key, row)
        else { return nil }
        return row.array(from: RowChecksum.bytes)
    }

    /// The row's entries as numbers, in the order of their facts: see `FactEntry.stored`.
    static func stored(in entries: [UInt8]) -> some Sequence<UInt64> {
        stride(from: 0, to: entries.count, by: FactEntry.size).lazy.map { start in
            entries.withUnsafeBytes { bytes in
                let low = bytes.loadUnaligned(fromByteOffset: start, as: UInt32.self)
                return UInt64(bytes[start + 4]) << 32 | UInt64(low)
            }
        }
    }

    /// Offsets in the chapter of the facts that have this hash, rising.
    static func offsets(of hash: FactHash, in entries: [UInt8]) -> [Int64] {
        let wanted = FactEntry(hash, offset: 0).stored
        return stored(in: entries).filter { $0 & ~FactEntry.offsetMask == wanted }
            .map(FactEntry.offset)
    }

    /// The bytes of the entries without those in `lost`.
    static func entries(_ entries: [UInt8], without lost: [FactEntry]) -> [UInt8] {
        let gone = Set(lost.map(\.stored))
        var left: [UInt8] = []
        left.reserveCapacity(entries.count)
        for (index, bits) in stored(in: entries).enumerated() where !gone.contains(bits) {
            left += entries[index * FactEntry.size..<(index + 1) * FactEntry.size]
        }
        return left
    }
}
