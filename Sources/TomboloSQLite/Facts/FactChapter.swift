import TomboloCore

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

    static let columns = "first, crc, row"
    static let insertion = "INSERT OR REPLACE INTO fact_block(\(columns)) VALUES(?1,?2,?3)"
    static let selection = "SELECT \(columns) FROM fact_block WHERE first = ?1"

    /// The row of `fact_block`: how many bytes the facts count, and the blocks.
    func insert(_ chapter: Int64, with statement: borrowing Statement) throws(SQLiteError) {
        let first = FactIndex.first(of: chapter)
        let row = withUnsafeBytes(of: bytes) { Array($0) } + blocks.withUnsafeBytes { Array($0) }
        let code = row.withUnsafeBytes { row in
            statement.bind(first, at: 1)
            statement.bind(Self.checksum(first, row), at: 2)
            statement.bindBlob(row, at: 3)
            return statement.run()
        }
        try statement.check(code)
    }

    /// The rows of `fact_index`.
    func insertBuckets(
        _ chapter: Int64, with statement: borrowing Statement
    ) throws(SQLiteError) {
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
            let code = sorted.withUnsafeBytes {
                FactBucket.insert(key, UnsafeRawBufferPointer(rebasing: $0[range]), with: statement)
            }
            try statement.check(code)
        }
    }

    /// The present row of a statement that selects `columns`, without entries; nil where it is
    /// damaged.
    init?(_ statement: borrowing Statement) {
        let row = statement.bytes(2)
        let size = MemoryLayout<Int64>.size
        guard row.count == size + Self.blocksMax * MemoryLayout<RowBlock>.stride,
            Self.checksum(statement.integer(0), row) == statement.integer(1)
        else { return nil }
        bytes = row.loadUnaligned(as: Int64.self)
        blocks.withUnsafeMutableBytes {
            $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: row[size...]))
        }
    }

    private static func checksum(_ first: Int64, _ row: UnsafeRawBufferPointer) -> Int64 {
        var sum = RowChecksum(.factBlock)
        sum.add(first)
        sum.add(row)
        return sum.stored
    }

    // MARK: From its facts

    /// The chapter that has no rows yet, as far as the facts have come.
    static func open(
        after lastSeq: Int64, _ connection: borrowing Connection
    ) throws(SQLiteError) -> FactChapter {
        try read(FactIndex.chapter(of: lastSeq + 1), connection)
    }

    /// What its facts come to; damaged ones are no answer to anybody.
    static func read(
        _ chapter: Int64, _ connection: borrowing Connection
    ) throws(SQLiteError) -> FactChapter {
        let rows = try connection.prepare(
            "SELECT \(FactRow.columns) FROM fact WHERE seq >= ?1 AND seq <= ?2 ORDER BY seq")
        rows.bind(FactIndex.first(of: chapter), at: 1)
        rows.bind(FactIndex.last(of: chapter), at: 2)
        var found = FactChapter()
        while try rows.step() { found.add(rows) }
        return found
    }

    /// Takes in the present row of a statement that selects `FactRow.columns`, unless it is
    /// damaged: then the answer is false.
    @discardableResult
    mutating func add(_ row: borrowing Statement) -> Bool {
        guard FactRow.place(row) != nil else { return false }
        add(
            row.integer(0), tenant: row.integer(1),
            activity: row.isNull(2) ? nil : row.integer(2), recordedAt: row.integer(3),
            kind: row.bytes(5), body: row.bytes(6))
        return true
    }
}

/// A row of the table `fact_index`: which facts of a chapter some activities and devices have.
struct FactBucket {
    static let columns = "key, crc, row"
    static let insertion = "INSERT OR REPLACE INTO fact_index(\(columns)) VALUES(?1,?2,?3)"
    static let selection = "SELECT \(columns) FROM fact_index WHERE key = ?1"

    /// Runs `insertion`. The answer is SQLite's code.
    static func insert(
        _ key: Int64, _ row: UnsafeRawBufferPointer, with statement: borrowing Statement
    ) -> Int32 {
        statement.bind(key, at: 1)
        statement.bind(checksum(key, row), at: 2)
        statement.bindBlob(row, at: 3)
        return statement.run()
    }

    /// The entries of the present row; nil where it is damaged.
    static func row(_ statement: borrowing Statement) -> UnsafeRawBufferPointer? {
        let row = statement.bytes(2)
        guard row.count % FactEntry.size == 0,
            checksum(statement.integer(0), row) == statement.integer(1)
        else { return nil }
        return row
    }

    /// The places in their chapter of the facts with that hash, rising.
    static func offsets(of hash: FactHash, in row: UnsafeRawBufferPointer) -> [Int64] {
        let wanted = FactEntry(hash, offset: 0).stored
        var offsets: [Int64] = []
        for index in 0..<row.count / FactEntry.size {
            let bits = FactEntry.load(index, from: row)
            if bits & ~FactEntry.offsetMask == wanted { offsets.append(FactEntry.offset(bits)) }
        }
        return offsets
    }

    /// What is left of it.
    static func row(_ row: UnsafeRawBufferPointer, without entries: [FactEntry]) -> [UInt8] {
        let gone = Set(entries.map(\.stored))
        var left: [UInt8] = []
        left.reserveCapacity(row.count)
        for index in 0..<row.count / FactEntry.size
        where !gone.contains(FactEntry.load(index, from: row)) {
            let start = index * FactEntry.size
            left += row[start..<start + FactEntry.size]
        }
        return left
    }

    private static func checksum(_ key: Int64, _ row: UnsafeRawBufferPointer) -> Int64 {
        var sum = RowChecksum(.factIndex)
        sum.add(key)
        sum.add(row)
        return sum.stored
    }
}
