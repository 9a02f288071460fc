import TomboloCore
import TomboloEventLog

/// A row of the table `head`, or of retired heads: the activity's `ActivityPosition`, then the
/// head's bytes.
enum HeadRow {
    private typealias Numbers = (tenant: Int64, version: Int64, seq: Int64, tenantSeq: Int64)

    private static let valueStart = RowChecksum.bytes + MemoryLayout<Numbers>.size

    @inline(__always)
    static func encode(
        _ head: ActivityHead, _ position: ActivityPosition, into buffer: inout RowBuffer
    ) -> UnsafeRawBufferPointer {
        let numbers: Numbers = (position.tenant, position.version, position.seq, position.tenantSeq)
        return head.value.withUnsafeBytes {
            buffer.row(.head, head.activity.rawValue, numbers, $0)
        }
    }

    /// The activity's position; nil if the row is damaged.
    static func position(_ activity: Int64, _ row: RawSpan) -> ActivityPosition? {
        guard let numbers = RowChecksum.numbers(.head, activity, row, as: Numbers.self),
            (0...LogTable.numberMax).contains(numbers.version),
            (0...LogTable.numberMax).contains(numbers.seq),
            (0...numbers.seq).contains(numbers.tenantSeq)
        else { return nil }
        return ActivityPosition(
            version: numbers.version, seq: numbers.seq, tenantSeq: numbers.tenantSeq,
            tenant: numbers.tenant, hasHead: true, anchor: ActivityPosition.unknownAnchor)
    }

    /// The head's bytes, unchecked.
    static func value(_ activity: Int64, _ row: RawSpan) -> [UInt8] { row.array(from: valueStart) }

    /// Position and head; nil if the row is damaged.
    static func head(_ activity: Int64, _ row: RawSpan) -> Found? {
        guard let position = position(activity, row) else { return nil }
        return Found(position: position, value: value(activity, row))
    }

    /// An activity's position and head.
    struct Found {
        var position: ActivityPosition
        var value: [UInt8]

        func recovered(_ activity: Int64) -> RecoveredHead {
            RecoveredHead(
                activity: ActivityNumber(activity), version: position.version, seq: position.seq,
                tenantSeq: position.tenantSeq, value: value)
        }
    }
}
