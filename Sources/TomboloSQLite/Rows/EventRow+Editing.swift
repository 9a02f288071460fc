import TomboloCore
import TomboloEventLog

extension EventRow {
    /// Rows looked at and changed one by one.
    final class Editing {
        private let selection: Statement
        private let update: Statement
        private var buffer = RowBuffer()
        /// Of all rows that were looked at.
        private(set) var bytesSeen = 0

        private let hash: KeyedHash

        /// - Parameter hash: of idempotency keys.
        init(_ hash: KeyedHash, _ connection: borrowing Connection) throws(SQLiteError) {
            self.hash = hash
            selection = try connection.prepare(LogTable.event.one)
            update = try connection.prepare(LogTable.event.change)
        }

        /// nil where the row is missing or damaged.
        func numbers(_ seq: Int64) throws(SQLiteError) -> Numbers? {
            try selection.find(seq) { seq, row in
                bytesSeen += row.byteCount
                return EventRow.numbers(seq, row)
            }
        }

        func body(_ seq: Int64) throws(SQLiteError) -> [UInt8] {
            try selection.find(seq) { seq, row in
                EventRow.numbers(seq, row).map { row.array(from: $0.bodyStart) }
            } ?? []
        }

        /// Puts the row's tombstone in its place.
        func bury(_ seq: Int64, _ numbers: Numbers) throws(SQLiteError) {
            selection.bind(seq, at: 1)
            defer { selection.reset() }
            guard try selection.step() else { return }
            let row = EventRow.tombstone(
                seq, numbers, selection.row.bytes, hash, into: &buffer)
            try update.put(seq, row)
        }

        /// The oldest row that the way back leads to.
        func oldest(
            of activity: Int64, from newest: Int64
        ) throws(SQLiteError) -> (seq: Int64, previous: Int64)? {
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
