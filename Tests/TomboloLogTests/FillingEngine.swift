import Synchronization
import TomboloEventLog

@testable import TomboloLog

/// Whether an engine has no room.
final class Fullness: Sendable {
    let isFull = Atomic(false)
}

/// An engine whose commits are refused while it is full.
final class FillingEngine: LogWriting {
    private let engine: any LogWriting
    private let fullness: Fullness

    init(_ engine: any LogWriting, _ fullness: Fullness) {
        (self.engine, self.fullness) = (engine, fullness)
    }

    func commit() throws(EventLogError) {
        if fullness.isFull.load(ordering: .relaxed) { throw .full(hint: "free some space") }
        try engine.commit()
    }

    // MARK: As it was

    func atOneMoment<Answer>(
        _ body: () throws(EventLogError) -> Answer
    ) throws(EventLogError) -> Answer { try engine.atOneMoment(body) }

    func row<Answer>(
        _ table: LogTable, _ key: Int64, _ take: (Int64, RawSpan) -> Answer?
    ) throws(EventLogError) -> Answer? { try engine.row(table, key, take) }

    func scan(
        _ table: LogTable, _ ranges: [ClosedRange<Int64>], _ order: LogOrder,
        _ take: (Int64, RawSpan) throws(EventLogError) -> Bool
    ) throws(EventLogError) { try engine.scan(table, ranges, order, take) }

    func lengths(
        _ table: LogTable, _ keys: ClosedRange<Int64>, _ take: (Int64, Int64) -> Bool
    ) throws(EventLogError) { try engine.lengths(table, keys, take) }

    func edge(
        _ table: LogTable, _ order: LogOrder, in keys: ClosedRange<Int64>
    ) throws(EventLogError) -> Int64? { try engine.edge(table, order, in: keys) }

    func shards(of kind: LogTable.Kind) throws(EventLogError) -> [Int64] {
        try engine.shards(of: kind)
    }

    func fault() throws(EventLogError) -> String? { try engine.fault() }

    func put(
        _ table: LogTable, _ key: Int64, _ row: UnsafeRawBufferPointer, over: LogPut
    ) throws(EventLogError) { try engine.put(table, key, row, over: over) }

    func delete(
        _ table: LogTable, _ keys: ClosedRange<Int64>, isPersonal: Bool
    ) throws(EventLogError) { try engine.delete(table, keys, isPersonal: isPersonal) }

    func drop(_ table: LogTable) throws(EventLogError) { try engine.drop(table) }
    func rollBack() throws(EventLogError) { try engine.rollBack() }
    var isCheckpointDue: Bool { engine.isCheckpointDue }
    func checkpoint() throws(EventLogError) -> Bool { try engine.checkpoint() }

    var keepsDeleted: Bool { engine.keepsDeleted }

    func scrub(waiting milliseconds: Int32) throws(EventLogError) -> Bool {
        try engine.scrub(waiting: milliseconds)
    }

    func leaveAsACrashWould() { engine.leaveAsACrashWould() }
}
