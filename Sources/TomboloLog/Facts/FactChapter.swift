import TomboloCore
import TomboloEventLog

/// A chapter of facts on its way to the disk: see `FactIndex`.
struct FactChapter {
    private static let blocksMax = Int(FactIndex.size / FactIndex.blockSize)

    private(set) var blocks = [RowBlock](repeating: RowBlock(), count: blocksMax)
    /// What its facts count: see `FactIndex.bytes`.
    var bytes: Int64 = 0
    private(set) var entries: [FactEntry] = []

    /// None.
    init() {}

    /// The next chapter begins.
    mutating func clear() {
        for index in blocks.indices { blocks[index] = RowBlock() }
        bytes = 0
        entries.removeAll(keepingCapacity: true)
    }

    /// Takes in the fact at `seq`.
    @inline(__always)
    mutating func add(
        _ seq: Int64, tenant: Int64, activity: Int64?, recordedAt: Int64,
        kind: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer
    ) {
        let offset = (seq - 1) % FactIndex.size
        let place = Int(offset / FactIndex.blockSize)
        var block = blocks[place]
        block.add(recordedAt: recordedAt)
        block.mark(FactHash.mark(tenant))
        block.mark(FactHash.mark(tenant, kind))
        blocks[place] = block
        bytes += FactIndex.bytes(kind: kind.count, body: body.count)
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

    /// Facts were erased that had these entries, and so many bytes more.
    mutating func forget(_ gone: [FactEntry], bytes count: Int64) {
        bytes -= count
        guard !gone.isEmpty else { return }
        let bits = Set(gone.map(\.bits))
        entries.removeAll { bits.contains($0.bits) }
    }

    // MARK: Its rows

    /// The row of `factBlock`: how many bytes the facts count, and the blocks. Its key is the
    /// chapter's first sequence.
    func encode(_ first: Int64, into buffer: inout RowBuffer) -> UnsafeRawBufferPointer {
        blocks.withUnsafeBytes { buffer.row(.factBlock, first, bytes, $0) }
    }

    /// Writes all rows of the chapter.
    func store(
        _ chapter: Int64, into buffer: inout RowBuffer, _ engine: any LogWriting
    ) throws(EventLogError) {
        try storeBlocks(chapter, into: &buffer, engine)
        try storeBuckets(chapter, into: &buffer, engine)
    }

    func storeBlocks(
        _ chapter: Int64, into buffer: inout RowBuffer, _ engine: any LogWriting
    ) throws(EventLogError) {
        let first = FactIndex.first(of: chapter)
        try engine.put(.factBlock, first, encode(first, into: &buffer))
    }

    /// The rows of `factBucket`.
    private func storeBuckets(
        _ chapter: Int64, into buffer: inout RowBuffer, _ engine: any LogWriting
    ) throws(EventLogError) {
        var counts = [Int](repeating: 0, count: Int(FactIndex.buckets) + 1)
        for entry in entries { counts[entry.bucket + 1] += 1 }
        for bucket in 1..<counts.count { counts[bucket] += counts[bucket - 1] }
        var next = counts
        var sorted = [UInt8](repeating: 0, count: entries.count * FactEntry.size)
        sorted.withUnsafeMutableBytes { sorted in
            for entry in entries {
                entry.store(next[entry.bucket], in: sorted)
                next[entry.bucket] += 1
            }
        }
        for bucket in 0..<Int(FactIndex.buckets) {
            let range = counts[bucket] * FactEntry.size..<counts[bucket + 1] * FactEntry.size
            let key = FactIndex.key(chapter, Int64(bucket))
            try engine.put(
                .factBucket, key, FactBucket.encode(key, sorted[range], into: &buffer))
        }
    }

    /// The chapter without entries; nil where its row is damaged.
    init?(_ first: Int64, _ row: RawSpan) {
        let size = Self.blocksMax * MemoryLayout<RowBlock>.stride
        guard let bytes = row.numbers(Int64.self),
            row.byteCount == RowChecksum.bytes + MemoryLayout<Int64>.size + size,
            RowChecksum.isRight(.factBlock, first, row)
        else { return nil }
        self.bytes = bytes
        row.withUnsafeBytes { row in
            blocks.withUnsafeMutableBytes {
                $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: row.suffix(size)))
            }
        }
    }

    // MARK: From its facts

    /// The chapter that has no rows yet, as far as the facts have come.
    static func open(
        after lastSeq: Int64, _ engine: any LogReading
    ) throws(EventLogError) -> FactChapter {
        try read(FactIndex.chapter(of: lastSeq + 1), engine)
    }

    /// What its facts come to; damaged ones are no answer to anybody.
    static func read(
        _ chapter: Int64, _ engine: any LogReading
    ) throws(EventLogError) -> FactChapter {
        var found = FactChapter()
        let seqs = FactIndex.first(of: chapter)...FactIndex.last(of: chapter)
        try engine.scan(.fact, seqs) { seq, row in
            _ = found.add(seq, row)
            return true
        }
        return found
    }

    /// Takes in the row of a fact, unless it is damaged: then the answer is false.
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

/// A row of the table `factBucket`: which facts of a chapter some activities and devices have.
struct FactBucket {
    static func encode(
        _ key: Int64, _ entries: ArraySlice<UInt8>, into buffer: inout RowBuffer
    ) -> UnsafeRawBufferPointer {
        entries.withUnsafeBytes { buffer.row(.factIndex, key, $0) }
    }

    /// The entries' bytes; nil where the row is damaged.
    static func entries(_ key: Int64, _ row: RawSpan) -> [UInt8]? {
        guard (row.byteCount - RowChecksum.bytes) % FactEntry.size == 0,
            RowChecksum.isRight(.factIndex, key, row)
        else { return nil }
        return row.array(from: RowChecksum.bytes)
    }

    /// The places in their chapter of the facts with that hash, rising.
    static func offsets(of hash: FactHash, in entries: [UInt8]) -> [Int64] {
        let wanted = FactEntry(hash, offset: 0).stored
        var offsets: [Int64] = []
        entries.withUnsafeBytes { entries in
            for index in 0..<entries.count / FactEntry.size {
                let bits = FactEntry.load(index, from: entries)
                if bits & ~FactEntry.offsetMask == wanted { offsets.append(FactEntry.offset(bits)) }
            }
        }
        return offsets
    }

    /// What is left of them.
    static func entries(_ entries: [UInt8], without lost: [FactEntry]) -> [UInt8] {
        let gone = Set(lost.map(\.stored))
        var left: [UInt8] = []
        left.reserveCapacity(entries.count)
        entries.withUnsafeBytes { entries in
            for index in 0..<entries.count / FactEntry.size
            where !gone.contains(FactEntry.load(index, from: entries)) {
                let start = index * FactEntry.size
                left += entries[start..<start + FactEntry.size]
            }
        }
        return left
    }
}
