package import TomboloCore
package import TomboloEventLog

/// Order in which rows are visited.
package enum LogOrder: Sendable {
    case rising
    case falling
}

/// Says whether a row with the key of a written row already exists.
package enum LogPut: Int, CaseIterable, Sendable {
    /// No row has this key.
    case new
    /// A row exists.
    case changed
    /// A row may exist.
    case any
}

/// An engine for reading: ordered tables from integer keys to bytes.
///
/// Synchronous: it may block, and is called on the log's own threads. `row`, `rows` and
/// `everyShard` see the writer's open transaction; the other methods need not. `take` must not call
/// the engine. A call may be a round trip, so request several rows in one call.
package protocol LogReading: AnyObject {
    /// Runs `body`. All its reads see the log at the same moment.
    func atOneMoment<Answer>(
        _ body: () throws(EventLogError) -> Answer
    ) throws(EventLogError) -> Answer

    /// Returns the result of `take` for the row at `key`; nil if there is no row.
    func row<Answer>(
        _ table: LogTable, _ key: Int64, _ take: (Int64, RawSpan) -> Answer?
    ) throws(EventLogError) -> Answer?

    /// Calls `take` for the existing rows at `keys`, in their order, until it returns false.
    func rows(
        _ table: LogTable, _ keys: [Int64], _ take: (Int64, RawSpan) -> Bool
    ) throws(EventLogError)

    /// Calls `take` for the existing rows at `keys` in all shards of a kind, the newest shard
    /// first, until it returns false.
    func everyShard(
        _ kind: LogTable.Kind, _ keys: [Int64],
        _ take: (_ shard: Int64, _ key: Int64, RawSpan) -> Bool
    ) throws(EventLogError)

    /// Calls `take` for the rows whose keys are in `ranges`, by range, until it returns false.
    func scan(
        _ table: LogTable, _ ranges: [ClosedRange<Int64>], _ order: LogOrder,
        _ take: (Int64, RawSpan) throws(EventLogError) -> Bool
    ) throws(EventLogError)

    /// Calls `take` for the row at `key`, then for the row that it links back to, and so on, until
    /// `take` returns false or a row is missing.
    func trail(
        _ trail: LogTrail, from key: Int64, _ take: (Int64, RawSpan) -> Bool
    ) throws(EventLogError)

    /// Calls `take` with key and length of each row in `keys`, rising, until it returns false.
    func lengths(
        _ table: LogTable, _ keys: ClosedRange<Int64>, _ take: (Int64, Int64) -> Bool
    ) throws(EventLogError)

    /// The first key in `keys` in the given order; nil if there is none.
    func edge(
        _ table: LogTable, _ order: LogOrder, in keys: ClosedRange<Int64>
    ) throws(EventLogError) -> Int64?

    /// Numbers of the existing shards of a kind, rising.
    func shards(of kind: LogTable.Kind) throws(EventLogError) -> [Int64]

    /// Damage that the engine itself finds in its storage; nil if there is none.
    func fault() throws(EventLogError) -> String?

    /// Reconnects after a lost connection. Returns true if the failed call may be repeated once;
    /// false if the connection was not lost or reconnecting failed.
    func renew() -> Bool
}

/// An engine that also writes. A log has only one writer.
package protocol LogWriting: LogReading {
    /// Writes a row. Opens a transaction if none is open.
    func put(
        _ table: LogTable, _ key: Int64, _ row: UnsafeRawBufferPointer, over: LogPut
    ) throws(EventLogError)

    /// Deletes rows. Opens a transaction if none is open. If `isPersonal`, the deleted bytes are
    /// overwritten, unless `keepsDeleted` is true.
    func delete(
        _ table: LogTable, _ keys: ClosedRange<Int64>, isPersonal: Bool
    ) throws(EventLogError)

    /// Deletes a whole shard with its rows.
    func drop(_ table: LogTable) throws(EventLogError)

    /// Makes the open transaction durable, if there is one.
    func commit() throws(EventLogError)

    /// Rolls back the open transaction, if there is one.
    func rollBack() throws(EventLogError)

    /// True if `checkpoint` has work to do. Heads whose rows are delayed must be written before it.
    var isCheckpointDue: Bool { get }

    /// Maintains the engine between commits to keep it fast. Returns false if a reader prevents it.
    func checkpoint() throws(EventLogError) -> Bool

    /// True if deleted bytes stay in the engine's files until other rows overwrite them.
    var keepsDeleted: Bool { get }

    /// Removes deleted bytes from the files. Returns false if readers prevented it for
    /// `milliseconds`.
    func scrub(waiting milliseconds: Int32) throws(EventLogError) -> Bool

    /// For tests: closing the engine will leave its files as a crash would.
    func leaveAsACrashWould()
}

/// Disk space of a log's engine.
package protocol LogRoom: Sendable {
    /// True if there is space for more events.
    func isThere(now: Instant) -> Bool

    /// Frees reserved space. Returns false if none is left.
    func makeRoom() -> Bool

    /// Returns `.full` if the error was caused by missing space, else the same error.
    func explaining(_ error: EventLogError) -> EventLogError
}

extension LogReading {
    package func scan(
        _ table: LogTable, _ keys: ClosedRange<Int64> = .min ... .max, _ order: LogOrder = .rising,
        _ take: (Int64, RawSpan) throws(EventLogError) -> Bool
    ) throws(EventLogError) {
        try scan(table, [keys], order, take)
    }

    /// Visits the rows after `key` up to `last`, rising.
    func scan(
        _ table: LogTable, after key: Int64, upTo last: Int64 = LogTable.numberMax,
        _ take: (Int64, RawSpan) throws(EventLogError) -> Bool
    ) throws(EventLogError) {
        guard key < last else { return }
        try scan(table, [key + 1...last], .rising, take)
    }

    /// Maximum number of rows and of bytes that `forEach` holds at once.
    private static var pieceMax: (rows: Int, bytes: Int) { (1_000, 1 << 20) }

    /// Visits all rows of a table, rising. It reads them in pieces, so `take` may call the engine.
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

    /// The highest sequence of a table; 0 if it has no rows.
    func newest(_ table: LogTable) throws(EventLogError) -> Int64 {
        try edge(table, .falling, in: 1...LogTable.numberMax) ?? 0
    }
}

// Default implementations, row by row, for engines whose calls are cheap.

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
