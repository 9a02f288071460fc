import TomboloCore

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

    @inline(__always)
    mutating func add(_ seq: Int64, tenant: Int64, kind: UInt8, recordedAt: Int64) {
        let index = Int((seq - 1) % Self.size / LogBlock.size)
        blocks[index].add(tenant: tenant, kind: kind, recordedAt: recordedAt)
    }

    /// Each block, with the distance of its first sequence from the chapter's.
    func forEach(_ body: (Int64, LogBlock) throws(SQLiteError) -> Void) throws(SQLiteError) {
        for index in blocks.indices { try body(Int64(index) * LogBlock.size, blocks[index]) }
    }

    // MARK: Its row

    static let columns = "first, crc, row"
    static let insertion = "INSERT OR REPLACE INTO block(\(columns)) VALUES(?1,?2,?3)"

    /// Runs `insertion`. The answer is SQLite's code.
    func insert(first: Int64, with statement: borrowing Statement) -> Int32 {
        blocks.withUnsafeBytes { bytes in
            statement.bind(first, at: 1)
            statement.bind(Self.checksum(first, bytes), at: 2)
            statement.bindBlob(bytes, at: 3)
            return statement.run()
        }
    }

    /// The present row of a statement that selects `columns`; nil where it is damaged.
    init?(_ statement: borrowing Statement) {
        let bytes = statement.bytes(2)
        guard bytes.count == Self.blocksMax * MemoryLayout<LogBlock>.stride,
            Self.checksum(statement.integer(0), bytes) == statement.integer(1)
        else { return nil }
        blocks.withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
    }

    /// The chapter that has no row yet, as far as the log has come.
    static func open(
        after lastSeq: Int64, _ connection: borrowing Connection
    ) throws(SQLiteError) -> LogChapter {
        var chapter = LogChapter()
        let rows = try connection.prepare("SELECT \(EventRow.columns) FROM event WHERE seq >= ?1")
        rows.bind(first(of: lastSeq + 1), at: 1)
        while try rows.step() {
            // A damaged row is no answer to anybody.
            guard let numbers = EventRow.numbers(rows) else { continue }
            chapter.add(
                rows.integer(0), tenant: numbers.tenant, kind: numbers.kind,
                recordedAt: numbers.recordedAt)
        }
        return chapter
    }

    private static func checksum(_ first: Int64, _ bytes: UnsafeRawBufferPointer) -> Int64 {
        var sum = RowChecksum(.block)
        sum.add(first)
        sum.add(bytes)
        return sum.stored
    }
}
