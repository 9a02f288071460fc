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
/// Synchronous: it may block, and is called on the log's own threads. Reads of the writer include
/// what it put in its open transaction. `take` may ask the engine too.
package protocol LogReading: AnyObject {
    /// Runs `body`, whose reads are all of one moment.
    func atOneMoment<Answer>(
        _ body: () throws(EventLogError) -> Answer
    ) throws(EventLogError) -> Answer

    /// What `take` makes of the row at `key`; nil where there is none.
    func row<Answer>(
        _ table: LogTable, _ key: Int64, _ take: (Int64, RawSpan) -> Answer?
    ) throws(EventLogError) -> Answer?

    /// Hands over the rows whose keys are in `keys`, until `take` answers false.
    func scan(
        _ table: LogTable, _ keys: ClosedRange<Int64>, _ order: LogOrder,
        _ take: (Int64, RawSpan) throws(EventLogError) -> Bool
    ) throws(EventLogError)

    /// The same with their lengths instead of them, rising.
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
}

/// An engine as its only writer sees it.
package protocol LogWriting: LogReading {
    /// Writes a row, in a transaction that it opens where none is.
    func put(
        _ table: LogTable, _ key: Int64, _ row: UnsafeRawBufferPointer, over: LogPut
    ) throws(EventLogError)

    /// Deletes rows, in a transaction that it opens where none is; answers how many. What they held
    /// is overwritten where `isPersonal`.
    @discardableResult
    func delete(
        _ table: LogTable, _ keys: ClosedRange<Int64>, isPersonal: Bool
    ) throws(EventLogError) -> Int64

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
    /// The rows after `key` and up to `last`, in their order.
    func scan(
        _ table: LogTable, after key: Int64, upTo last: Int64 = LogTable.numberMax,
        _ order: LogOrder = .rising, _ take: (Int64, RawSpan) throws(EventLogError) -> Bool
    ) throws(EventLogError) {
        guard key < last else { return }
        try scan(table, key + 1...last, order, take)
    }

    /// The newest sequence of a table that can be one; 0 where there is none.
    func newest(_ table: LogTable) throws(EventLogError) -> Int64 {
        try edge(table, .falling, in: 1...LogTable.numberMax) ?? 0
    }

    package func scan(
        _ table: LogTable, _ keys: ClosedRange<Int64> = .min ... .max,
        _ take: (Int64, RawSpan) throws(EventLogError) -> Bool
    ) throws(EventLogError) {
        try scan(table, keys, .rising, take)
    }
}

extension LogWriting {
    package func put(
        _ table: LogTable, _ key: Int64, _ row: UnsafeRawBufferPointer
    ) throws(EventLogError) {
        try put(table, key, row, over: .any)
    }

    package func delete(_ table: LogTable, _ key: Int64) throws(EventLogError) {
        try delete(table, key...key, isPersonal: true)
    }
}
