import TomboloCore
import TomboloEventLog

/// A row of the table `head`, or of retired heads: the activity's position (`Mark`), then the
/// head's bytes.
enum HeadRow {
    private typealias Numbers = (tenant: Int64, version: Int64, seq: Int64, tenantSeq: Int64)

    private static let valueStart = RowChecksum.bytes + MemoryLayout<Numbers>.size

    @inline(__always)
    static func encode(
        _ head: ActivityHead, _ mark: ActivityMarks.Mark, into buffer: inout RowBuffer
    ) -> UnsafeRawBufferPointer {
        let numbers: Numbers = (mark.tenant, mark.version, mark.seq, mark.tenantSeq)
        return head.value.withUnsafeBytes {
            buffer.row(.head, head.activity.rawValue, numbers, $0)
        }
    }

    /// The activity's position; nil if the row is damaged.
    static func mark(_ activity: Int64, _ row: RawSpan) -> ActivityMarks.Mark? {
        guard let numbers = RowChecksum.numbers(.head, activity, row, as: Numbers.self),
            (0...LogTable.numberMax).contains(numbers.version),
            (0...LogTable.numberMax).contains(numbers.seq),
            (0...numbers.seq).contains(numbers.tenantSeq)
        else { return nil }
        return ActivityMarks.Mark(
            version: numbers.version, seq: numbers.seq, tenantSeq: numbers.tenantSeq,
            tenant: numbers.tenant, hasHead: true, anchor: ActivityMarks.Mark.unknownAnchor)
    }

    /// The head's bytes, unchecked.
    static func value(_ activity: Int64, _ row: RawSpan) -> [UInt8] { row.array(from: valueStart) }

    /// Position and head; nil if the row is damaged.
    static func head(_ activity: Int64, _ row: RawSpan) -> Found? {
        guard let mark = mark(activity, row) else { return nil }
        return Found(mark: mark, value: value(activity, row))
    }

    /// An activity's position and head.
    struct Found {
        var mark: ActivityMarks.Mark
        var value: [UInt8]

        func recovered(_ activity: Int64) -> RecoveredHead {
            RecoveredHead(
                activity: ActivityNumber(activity), version: mark.version, seq: mark.seq,
                tenantSeq: mark.tenantSeq, value: value)
        }
    }
}
