import TomboloCore
import TomboloEventLog

/// Retired activities, by the day on which they ended: their heads by number, and their numbers by
/// a hash of tenant and name.
///
/// Start-up does not read them, so its time depends on live activities only. A hash is only a hint:
/// the name in the head decides. A day that is too old is deleted in pieces.
struct RetiredDays: ~Copyable {
    private var buffer = RowBuffer()

    static func day(_ instant: Instant) -> Int64 {
        floorDivide(instant.nanoseconds, Span.hours(24).nanoseconds)
    }

    /// All days with rows, newest first.
    static func days(_ engine: any LogReading) throws(EventLogError) -> [Int64] {
        // A day's heads are deleted before its names, so check both.
        let days = try engine.shards(of: .retired) + engine.shards(of: .retiredName)
        return Set(days).sorted(by: >)
    }

    /// Moves the head of a live activity to its day. Has no effect if there is no live head.
    mutating func retire(
        _ retired: RetiredActivity, hash: UInt64, _ engine: any LogWriting
    ) throws(EventLogError) {
        let (day, activity) = (Self.day(retired.endedAt), retired.activity.rawValue)
        let row = try engine.row(.head, activity) { $1.array(from: 0) }
        guard let row else { return }
        let copy = buffer.bytes(row.count)
        copy.copyBytes(from: row)
        try engine.put(.retired(day), activity, UnsafeRawBufferPointer(copy))
        // Two activities of the same name may end on the same day.
        try name(hash, on: day, engine) { $0.filter { $0 != activity } + [activity] }
    }

    /// Changes the list of activities for the hash of a name on a day.
    private mutating func name(
        _ hash: UInt64, on day: Int64, _ engine: any LogWriting, _ change: ([Int64]) -> [Int64]
    ) throws(EventLogError) {
        let (names, key) = (LogTable.retiredName(day), Int64(bitPattern: hash))
        let before = try engine.row(names, key, RetiredNameRow.activities) ?? []
        let left = change(before)
        if left == before { return }
        if left.isEmpty { return try engine.delete(names, key) }
        try engine.put(names, key, buffer.row(.retired, key, (), left))
    }

    /// The position of a retired activity and the day on which it ended; nil if there is none.
    static func find(
        _ activity: Int64, _ engine: any LogReading
    ) throws(EventLogError) -> (position: ActivityPosition, day: Int64)? {
        var found: (position: ActivityPosition, day: Int64)?
        try engine.everyShard(.retired, [activity]) { day, activity, row in
            found = HeadRow.position(activity, row).map { ($0, day) }
            found?.position.hasHead = false
            return found == nil
        }
        return found
    }

    /// Erases an activity's state and name. A row with its position stays.
    mutating func bury(
        _ activity: Int64, _ position: ActivityPosition, on day: Int64, nameHash: UInt64?,
        _ engine: any LogWriting
    ) throws(EventLogError) {
        for old in try Self.days(engine) {
            try engine.delete(.retired(old), activity)
            guard let nameHash else { continue }
            try name(nameHash, on: old, engine) { $0.filter { $0 != activity } }
        }
        try engine.delete(.head, activity)
        let nothing = ActivityHead(activity: ActivityNumber(activity), value: [])
        try engine.put(.retired(day), activity, HeadRow.encode(nothing, position, into: &buffer))
    }

    /// Deletes a piece of the oldest day before `day`: first heads, then names, and finally the
    /// tables. Returns nil if there is no such day.
    static func cutPiece(
        before day: Int64, _ allowance: CutAllowance, _ engine: any LogWriting
    ) throws(EventLogError) -> CutPiece? {
        guard let day = try days(engine).last(where: { $0 < day }) else { return nil }
        var piece = CutPiece()
        piece.goesOn = true
        var last: Int64?
        try engine.lengths(.retired(day), 0 ... .max) { activity, length in
            last = activity
            piece.count(length)
            return allowance.hasRoom(in: piece)
        }
        if let last {
            try engine.delete(.retired(day), .min...last, isPersonal: true)
            return piece
        }
        try engine.lengths(.retiredName(day), .min ... .max) { name, _ in
            (last, piece.rows) = (name, piece.rows + 1)
            return piece.rows < allowance.rows
        }
        if let last, piece.rows == allowance.rows {
            try engine.delete(.retiredName(day), .min...last, isPersonal: true)
        } else {
            try engine.drop(.retired(day))
            try engine.drop(.retiredName(day))
        }
        return piece
    }
}

extension LogTable {
    /// The heads of activities that retired on `day`; nil means live activities.
    static func heads(of day: Int64?) -> LogTable { day.map(retired) ?? head }
}

/// A row of the table of retired activities' names: the numbers of the activities whose tenant and
/// name have this hash, the newest last.
enum RetiredNameRow {
    /// Returns nil if the row is damaged.
    static func activities(_ hash: Int64, _ row: RawSpan) -> [Int64]? {
        let (start, size) = (RowChecksum.bytes, MemoryLayout<Int64>.size)
        guard RowChecksum.isRight(.retired, hash, row), (row.byteCount - start) % size == 0 else {
            return nil
        }
        return row.numbers(from: start, count: (row.byteCount - start) / size)
    }
}
