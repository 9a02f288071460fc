package import TomboloEventLog

/// In which order rows are handed over.
package enum LogOrder: Sendable {
    case rising
    case falling
}

/// What a row is put over.
package enum LogPut: Int, CaseIterable, Sendable {
    /// Nothing: no row has that key.
    case new
    /// A row that is there.
    case changed
    /// Perhaps a row.
    case any
}

/// An engine as those see it who only read: ordered tables of integer key → bytes.
///
/// Synchronous: it may block, and is called on the log's own threads. `row`, `rows` and
/// `everyShard` see what the writer put in its open transaction; the others need not. `take` must
/// not ask the engine. A question may be a round trip: who needs several rows asks once.
package protocol LogReading: AnyObject {
    /// Runs `body`, whose reads are all of one moment.
    func atOneMoment<Answer>(
        _ body: () throws(EventLogError) -> Answer
    ) throws(EventLogError) -> Answer

    /// What `take` makes of the row at `key`; nil where there is none.
    func row<Answer>(
        _ table: LogTable, _ key: Int64, _ take: (Int64, RawSpan) -> Answer?
    ) throws(EventLogError) -> Answer?

    /// Hands over the rows at `keys` that are there, in that order, until `take` answers false.
    func rows(
        _ table: LogTable, _ keys: [Int64], _ take: (Int64, RawSpan) -> Bool
    ) throws(EventLogError)

    /// Hands over the rows at `keys` that are there in any shard of a kind, the newest shard first,
    /// until `take` answers false.
    func everyShard(
        _ kind: LogTable.Kind, _ keys: [Int64],
        _ take: (_ shard: Int64, _ key: Int64, RawSpan) -> Bool
    ) throws(EventLogError)

    /// Hands over the rows whose keys are in `ranges`, range after range and each in that order,
    /// until `take` answers false.
    func scan(
        _ table: LogTable, _ ranges: [ClosedRange<Int64>], _ order: LogOrder,
        _ take: (Int64, RawSpan) throws(EventLogError) -> Bool
    ) throws(EventLogError)

    /// Hands over the row at `key`, then the one that it leads back to, and so on, until `take`
    /// answers false or there is none.
    func trail(
        _ trail: LogTrail, from key: Int64, _ take: (Int64, RawSpan) -> Bool
    ) throws(EventLogError)

    /// The keys of the rows in `keys`, and how long the rows are, rising.
    func lengths(
        _ table: LogTable, _ keys: ClosedRange<Int64>, _ take: (Int64, Int64) -> Bool
    ) throws(EventLogError)

    /// The first key in `keys` in that order; nil where there is none.
    func edge(
        _ table: LogTable, _ order: LogOrder, in keys: ClosedRange<Int64>
    ) throws(EventLogError) -> Int64?

    /// Those of a kind that have a table, rising.
    func shards(of kind: LogTable.Kind) throws(EventLogError) -> [Int64]

    /// What the engine itself finds wrong with what it stores; nil where nothing.
    func fault() throws(EventLogError) -> String?

    /// Makes good that the way to the engine was lost: then the question that met it may be asked
    /// once more. False where it was not, or still is.
    func renew() -> Bool
}

/// An engine as its only writer sees it.
package protocol LogWriting: LogReading {
    /// Writes a row, in a transaction that it opens where none is.
    func put(
        _ table: LogTable, _ key: Int64, _ row: UnsafeRawBufferPointer, over: LogPut
    ) throws(EventLogError)

    /// Deletes rows, in a transaction that it opens where none is. What they held is overwritten
    /// where `isPersonal`, but see `keepsDeleted`.
    func delete(
        _ table: LogTable, _ keys: ClosedRange<Int64>, isPersonal: Bool
    ) throws(EventLogError)

    /// Deletes a whole shard.
    func drop(_ table: LogTable) throws(EventLogError)

    /// Makes the open transaction durable, if there is one.
    func commit() throws(EventLogError)

    /// Takes the open transaction back, if there is one.
    func rollBack() throws(EventLogError)

    /// Whether `checkpoint` has work to do: before it, all that waits should be written.
    var isCheckpointDue: Bool { get }

    /// Does what keeps the engine fast, between commits. Answers false where a reader held it up.
    func checkpoint() throws(EventLogError) -> Bool

    /// What was deleted stays in the engine's files until others write over it.
    var keepsDeleted: Bool { get }

    /// Takes what was deleted out of the files. Answers false where a reader held it up for
    /// `milliseconds`.
    func scrub(waiting milliseconds: Int32) throws(EventLogError) -> Bool

    /// Closing leaves all as a crash would.
    func leaveAsACrashWould()
}

/// The room that a log's engine has.
package protocol LogRoom: Sendable {
    /// Whether events may come.
    var isThere: Bool { get }

    /// Gives room up that was kept for this. False where there is none left.
    func makeRoom() -> Bool

    /// The same error, or that there is no room, where an engine reports that as something else.
    func explaining(_ error: EventLogError) -> EventLogError
}

extension LogReading {
    package func scan(
        _ table: LogTable, _ keys: ClosedRange<Int64> = .min ... .max, _ order: LogOrder = .rising,
        _ take: (Int64, RawSpan) throws(EventLogError) -> Bool
    ) throws(EventLogError) {
        try scan(table, [keys], order, take)
    }

    /// The rows after `key` and up to `last`, rising.
    func scan(
        _ table: LogTable, after key: Int64, upTo last: Int64 = LogTable.numberMax,
        _ take: (Int64, RawSpan) throws(EventLogError) -> Bool
    ) throws(EventLogError) {
        guard key < last else { return }
        try scan(table, [key + 1...last], .rising, take)
    }

    /// So many rows, or bytes, `forEach` holds at once.
    private static var pieceMax: (rows: Int, bytes: Int) { (1_000, 1 << 20) }

    /// Hands over all rows of a table, rising, in pieces that are read before: `take` may ask the
    /// engine.
    func forEach(
        _ table: LogTable, _ take: (Int64, RawSpan) throws(EventLogError) -> Void
    ) throws(EventLogError) {
        var next: Int64? = .min
        while let first = next {
            var (piece, bytes): ([(key: Int64, row: [UInt8])], Int) = ([], 0)
            try scan(table, first ... .max) { key, row in
                piece.append((key, row.array(from: 0)))
                bytes += row.byteCount
                return piece.count < Self.pieceMax.rows && bytes < Self.pieceMax.bytes
            }
            for (key, row) in piece { try take(key, row.span.bytes) }
            next = piece.last.flatMap { $0.key < .max ? $0.key + 1 : nil }
        }
    }

    /// The newest sequence of a table that can be one; 0 where there is none.
    func newest(_ table: LogTable) throws(EventLogError) -> Int64 {
        try edge(table, .falling, in: 1...LogTable.numberMax) ?? 0
    }
}

// Row by row, for engines whose questions cost next to nothing.

extension LogReading {
    package func renew() -> Bool { false }

    package func rows(
        _ table: LogTable, _ keys: [Int64], _ take: (Int64, RawSpan) -> Bool
    ) throws(EventLogError) {
        for key in keys {
            let goesOn = try row(table, key, take)
            guard goesOn ?? true else { return }
        }
    }

    package func everyShard(
        _ kind: LogTable.Kind, _ keys: [Int64], _ take: (Int64, Int64, RawSpan) -> Bool
    ) throws(EventLogError) {
        for shard in try shards(of: kind).reversed() {
            var goesOn = true
            try rows(LogTable(kind, shard), keys) { key, row in
                goesOn = take(shard, key, row)
                return goesOn
            }
            guard goesOn else { return }
        }
    }
}

extension LogWriting {
    package var keepsDeleted: Bool { false }

    package func put(
        _ table: LogTable, _ key: Int64, _ row: UnsafeRawBufferPointer
    ) throws(EventLogError) {
        try put(table, key, row, over: .any)
    }

    package func delete(_ table: LogTable, _ key: Int64) throws(EventLogError) {
        try delete(table, key...key, isPersonal: true)
    }
}
