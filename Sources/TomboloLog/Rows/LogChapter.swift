import TomboloCore
import TomboloEventLog

/// The blocks of `size` neighbours of the log, in one row of the table `block`: ten million events
/// are 611 rows, which one page may all look at.
struct LogChapter {
    /// Rows at the sequences n · size + 1 up to (n + 1) · size. Those of the last, which has no row
    /// yet, are looked at one by one.
    static let size: Int64 = 16_384

    private var blocks = RowBlock.none

    /// The first sequence of the chapter in which `seq` stands.
    static func first(of seq: Int64) -> Int64 { (seq - 1) / size * size + 1 }

    /// The last one of the chapter that begins with `first`.
    static func last(of first: Int64) -> Int64 { first + size - 1 }

    @inline(__always)
    mutating func add(_ seq: Int64, tenant: Int64, kind: UInt8, recordedAt: Int64) {
        blocks[RowBlock.index(of: seq)].add(
            recordedAt: recordedAt, RowBlock.mark(tenant, kind))
    }

    /// Each block, with the distance of its first sequence from the chapter's.
    func forEach(_ body: (Int64, RowBlock) -> Void) {
        for index in blocks.indices { body(Int64(index) * RowBlock.size, blocks[index]) }
    }

    /// The one in which an event of the chapter stands.
    func block(of seq: Int64) -> RowBlock { blocks[RowBlock.index(of: seq)] }

    // MARK: Its row

    /// - Parameter first: the chapter's first sequence, which is the row's key.
    func encode(_ first: Int64, into buffer: inout RowBuffer) -> UnsafeRawBufferPointer {
        buffer.row(.block, first, (), blocks)
    }

    /// nil where the row is damaged.
    init?(_ first: Int64, _ row: RawSpan) {
        guard RowChecksum.isRight(.block, first, row),
            let blocks = RowBlock.all(in: row, from: RowChecksum.bytes)
        else { return nil }
        self.blocks = blocks
    }

    /// The chapter that has no row yet, as far as the log has come.
    init(after lastSeq: Int64, _ engine: any LogReading) throws(EventLogError) {
        try engine.scan(.event, Self.first(of: lastSeq + 1)...Int64.max) { seq, row in
            // A damaged row is no answer to anybody.
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
    /// Of a pair of a tenant and its events' kind: 256 bits for a few dozen pairs.
    @inline(__always)
    fileprivate static func mark(_ tenant: Int64, _ kind: UInt8) -> UInt64 {
        (UInt64(bitPattern: tenant) &* 8 &+ UInt64(kind)) &* 0x9e37_79b9_7f4a_7c15
    }

    /// Whether an event of `tenant` may be in it, of that kind, and from the one instant until
    /// before the other.
    func mayHave(_ tenant: Int64, _ kind: EventKind?, from: Instant?, until: Instant?) -> Bool {
        guard mayHave(from: from, until: until) else { return false }
        if let kind { return has(Self.mark(tenant, kind.rawValue)) }
        return EventKind.allCases.contains { has(Self.mark(tenant, $0.rawValue)) }
    }
}
