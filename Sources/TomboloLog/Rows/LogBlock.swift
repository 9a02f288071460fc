import TomboloCore
import TomboloEventLog

/// What `size` neighbours of the log have in common, by which a filtered page passes over those
/// that hold nothing of it.
///
/// It may say "perhaps" where the answer is no, never no where it is yes.
struct LogBlock: BitwiseCopyable {
    /// A page of 100 rows that lie in as many blocks reads 25,600 rows.
    static let size: Int64 = 256

    private var block = RowBlock()

    @inline(__always)
    mutating func add(tenant: Int64, kind: UInt8, recordedAt: Int64) {
        block.add(recordedAt: recordedAt)
        block.mark(Self.mark(tenant, kind))
    }

    /// Of a pair of tenant and kind: 256 bits for a few dozen pairs.
    @inline(__always)
    private static func mark(_ tenant: Int64, _ kind: UInt8) -> UInt64 {
        (UInt64(bitPattern: tenant) &* 8 &+ UInt64(kind)) &* 0x9e37_79b9_7f4a_7c15
    }

    /// Whether a row of `tenant` may be in it, of that kind, and from the one instant until before
    /// the other.
    func mayHave(_ tenant: Int64, _ kind: EventKind?, from: Instant?, until: Instant?) -> Bool {
        guard block.mayHave(from: from, until: until) else { return false }
        if let kind { return block.has(Self.mark(tenant, kind.rawValue)) }
        return EventKind.allCases.contains { block.has(Self.mark(tenant, $0.rawValue)) }
    }
}

/// The blocks of `size` neighbours of the log, in one row of the table `block`: ten million events
/// are 611 rows, which one page may all look at.
struct LogChapter {
    /// Rows at the sequences n · size + 1 up to (n + 1) · size. Those of the last, which has no row
    /// yet, are looked at one by one.
    static let size: Int64 = 16_384
    private static let blocksMax = Int(size / LogBlock.size)

    private var blocks = [LogBlock](repeating: LogBlock(), count: blocksMax)

    /// None.
    init() {}

    /// The first sequence of the chapter in which `seq` stands.
    static func first(of seq: Int64) -> Int64 { (seq - 1) / size * size + 1 }

    /// The last one of the chapter that begins with `first`.
    static func last(of first: Int64) -> Int64 { first + size - 1 }

    @inline(__always)
    mutating func add(_ seq: Int64, tenant: Int64, kind: UInt8, recordedAt: Int64) {
        let index = Int((seq - 1) % Self.size / LogBlock.size)
        blocks[index].add(tenant: tenant, kind: kind, recordedAt: recordedAt)
    }

    /// Each block, with the distance of its first sequence from the chapter's.
    func forEach(_ body: (Int64, LogBlock) -> Void) {
        for index in blocks.indices { body(Int64(index) * LogBlock.size, blocks[index]) }
    }

    /// The one in which an event of the chapter stands.
    func block(of seq: Int64) -> LogBlock { blocks[Int((seq - 1) % Self.size / LogBlock.size)] }

    // MARK: Its row

    /// - Parameter first: the chapter's first sequence, which is the row's key.
    func encode(_ first: Int64, into buffer: inout RowBuffer) -> UnsafeRawBufferPointer {
        blocks.withUnsafeBytes { buffer.row(.block, first, $0) }
    }

    /// nil where the row is damaged.
    init?(_ first: Int64, _ row: RawSpan) {
        let size = Self.blocksMax * MemoryLayout<LogBlock>.stride
        guard row.byteCount == RowChecksum.bytes + size, RowChecksum.isRight(.block, first, row)
        else { return nil }
        row.withUnsafeBytes { row in
            blocks.withUnsafeMutableBytes {
                $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: row[RowChecksum.bytes...]))
            }
        }
    }

    /// The chapter that has no row yet, as far as the log has come.
    static func open(
        after lastSeq: Int64, _ engine: any LogReading
    ) throws(EventLogError) -> LogChapter {
        var chapter = LogChapter()
        try engine.scan(.event, first(of: lastSeq + 1)...Int64.max) { seq, row in
            // A damaged row is no answer to anybody.
            if let numbers = EventRow.numbers(seq, row) {
                chapter.add(
                    seq, tenant: numbers.tenant, kind: numbers.kind,
                    recordedAt: numbers.recordedAt)
            }
            return true
        }
        return chapter
    }
}
