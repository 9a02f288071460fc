import TomboloCore
import TomboloEventLog

/// The block summaries of `size` consecutive events, in one row of the table `block`. Ten million
/// events have 611 rows: few enough that one page can read all.
struct LogChapter {
    /// Number of events in a chapter. It has the sequences n · size + 1 to (n + 1) · size. The
    /// newest chapter has no row yet, so its events are examined one by one.
    static let size: Int64 = 16_384

    private var blocks = RowBlock.none

    /// The first sequence of the chapter that has `seq`.
    static func first(of seq: Int64) -> Int64 { (seq - 1) / size * size + 1 }

    /// The last sequence of the chapter that begins with `first`.
    static func last(of first: Int64) -> Int64 { first + size - 1 }

    @inline(__always)
    mutating func add(_ seq: Int64, tenant: Int64, kind: UInt8, recordedAt: Int64) {
        blocks[RowBlock.index(of: seq)].add(
            recordedAt: recordedAt, RowBlock.mark(tenant, kind))
    }

    /// Calls `body` with each block and the offset of its first sequence in the chapter.
    func forEach(_ body: (Int64, RowBlock) -> Void) {
        for index in blocks.indices { body(Int64(index) * RowBlock.size, blocks[index]) }
    }

    /// The summary of the block in which the event at `seq` lies.
    func block(of seq: Int64) -> RowBlock { blocks[RowBlock.index(of: seq)] }

    // MARK: Its row

    /// - Parameter first: the chapter's first sequence, which is the row's key.
    func encode(_ first: Int64, into buffer: inout RowBuffer) -> UnsafeRawBufferPointer {
        buffer.row(.block, first, (), blocks)
    }

    /// Returns nil if the row is damaged.
    init?(_ first: Int64, _ row: RawSpan) {
        guard RowChecksum.isRight(.block, first, row),
            let blocks = RowBlock.all(in: row, from: RowChecksum.bytes)
        else { return nil }
        self.blocks = blocks
    }

    /// Builds the newest chapter, which has no row yet, from its events.
    init(after lastSeq: Int64, _ engine: any LogReading) throws(EventLogError) {
        try engine.scan(.event, Self.first(of: lastSeq + 1)...Int64.max) { seq, row in
            // Skip damaged rows, because no query returns them.
            if let numbers = EventRow.numbers(seq, row) {
                add(
                    seq, tenant: numbers.tenant, kind: numbers.kind,
                    recordedAt: numbers.recordedAt)
            }
            return true
        }
    }

    init() {}
}

extension RowBlock {
    /// Mark of a tenant and an event kind. A block has 256 bits for a few dozen such pairs.
    @inline(__always)
    fileprivate static func mark(_ tenant: Int64, _ kind: UInt8) -> UInt64 {
        (UInt64(bitPattern: tenant) &* 8 &+ UInt64(kind)) &* 0x9e37_79b9_7f4a_7c15
    }

    /// True if the block may have an event of `tenant` and `kind` (nil: any) from `from` until
    /// before `until`.
    func mayHave(_ tenant: Int64, _ kind: EventKind?, from: Instant?, until: Instant?) -> Bool {
        guard mayHave(from: from, until: until) else { return false }
        if let kind { return has(Self.mark(tenant, kind.rawValue)) }
        return EventKind.allCases.contains { has(Self.mark(tenant, $0.rawValue)) }
    }
}
