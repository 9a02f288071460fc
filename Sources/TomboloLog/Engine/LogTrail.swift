package import TomboloEventLog

/// Describes how to follow an activity's rows backwards. Each row has the key of the previous one
/// at a fixed offset, so an engine can follow them by itself.
package struct LogTrail: Sendable {
    /// When to follow a row's far key (a link over many rows) instead of the previous one.
    package enum Leap: Sendable {
        case none
        /// Follow the far key if it is above this key.
        case above(Int64)
        /// Follow the far key while rows were recorded after this instant (nanoseconds since 1970).
        case after(Int64)
    }

    package let table: LogTable
    /// Offsets of the previous key, the far key and the recording time in a row: eight bytes each,
    /// little-endian. A key of 0 means none.
    package let previousAt: Int
    package let farAt: Int
    package let recordedAt: Int
    package let leap: Leap

    static let events = LogTrail(
        table: .event, previousAt: EventRow.Numbers.previousAt, farAt: 0, recordedAt: 0,
        leap: .none)

    static func snapshots(_ leap: Leap) -> LogTrail {
        LogTrail(
            table: .snapshot, previousAt: SnapshotRow.Numbers.previousAt,
            farAt: SnapshotRow.Numbers.farAt, recordedAt: SnapshotRow.Numbers.recordedAtAt,
            leap: leap)
    }

    private func number(_ row: RawSpan, at place: Int) -> Int64 {
        guard row.byteCount >= place + MemoryLayout<Int64>.size else { return 0 }
        return row.unsafeLoadUnaligned(fromByteOffset: place, as: Int64.self)
    }
}

extension LogReading {
    /// Default implementation, row by row, for engines whose calls are cheap.
    package func trail(
        _ trail: LogTrail, from key: Int64, _ take: (Int64, RawSpan) -> Bool
    ) throws(EventLogError) {
        var next = key
        while next > 0 {
            let found = try row(trail.table, next) { key, row -> (previous: Int64, far: Int64)? in
                guard take(key, row) else { return nil }
                return trail.ways(row)
            }
            guard let (previous, far) = found, previous < next else { return }
            let leaps = try leaps(trail, to: far, from: next)
            next = leaps ? far : previous
        }
    }

    private func leaps(
        _ trail: LogTrail, to far: Int64, from key: Int64
    ) throws(EventLogError) -> Bool {
        guard far > 0, far < key else { return false }
        switch trail.leap {
        case .none: return false
        case .above(let low): return far > low
        case .after(let instant):
            let isAfter = try row(trail.table, far) { _, row in trail.isAfter(instant, row) }
            return isAfter ?? false
        }
    }
}

extension LogTrail {
    /// The previous key and the far key in a row; 0 means none.
    func ways(_ row: RawSpan) -> (previous: Int64, far: Int64) {
        if case .none = leap { return (number(row, at: previousAt), 0) }
        return (number(row, at: previousAt), number(row, at: farAt))
    }

    func isAfter(_ instant: Int64, _ row: RawSpan) -> Bool {
        number(row, at: recordedAt) > instant
    }
}
