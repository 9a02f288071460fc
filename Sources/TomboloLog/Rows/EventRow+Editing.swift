import TomboloCore
import TomboloEventLog

extension EventRow {
    /// Rows looked at and changed one by one.
    final class Editing {
        private let engine: any LogWriting
        private var buffer = RowBuffer()
        /// Of all rows that were looked at.
        private(set) var bytesSeen = 0

        private let hash: KeyedHash

        /// - Parameter hash: of idempotency keys.
        init(_ hash: KeyedHash, _ engine: any LogWriting) {
            self.hash = hash
            self.engine = engine
        }

        /// nil where the row is missing or damaged.
        func numbers(_ seq: Int64) throws(EventLogError) -> Numbers? {
            try engine.row(.event, seq) { seq, row in
                bytesSeen += row.byteCount
                return EventRow.numbers(seq, row)
            }
        }

        func body(_ seq: Int64) throws(EventLogError) -> [UInt8] {
            try engine.row(.event, seq) { seq, row in
                EventRow.numbers(seq, row).map { row.array(from: $0.bodyStart) }
            } ?? []
        }

        /// Puts the row's tombstone in its place.
        func bury(_ seq: Int64, _ numbers: Numbers) throws(EventLogError) {
            let row = try engine.row(.event, seq) { $1.array(from: 0) }
            guard let row else { return }
            let left = row.withUnsafeBytes {
                EventRow.tombstone(seq, numbers, $0.bytes, hash, into: &buffer)
            }
            try engine.put(.event, seq, left, over: .changed)
        }

        /// The oldest row that the way back leads to.
        func oldest(
            of activity: Int64, from newest: Int64
        ) throws(EventLogError) -> (seq: Int64, previous: Int64)? {
            var oldest: (seq: Int64, previous: Int64)?
            var seq = newest
            while let row = try numbers(seq), row.activity == activity, row.previous < seq {
                oldest = (seq, row.previous)
                seq = row.previous
            }
            return oldest
        }
    }
}
