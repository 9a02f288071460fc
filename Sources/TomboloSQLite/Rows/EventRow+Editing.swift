import TomboloEventLog

extension EventRow {
    /// Rows looked at and changed one by one.
    final class Editing {
        private let selection: Statement
        private let update: Statement
        private var buffer = RowBuffer()
        /// Of all rows that were looked at.
        private(set) var bytesSeen = 0

        init(_ connection: borrowing Connection) throws(SQLiteError) {
            selection = try connection.prepare(
                "SELECT \(EventRow.columns) FROM event WHERE seq = ?1")
            update = try connection.prepare(EventRow.replacement)
        }

        /// nil where the row is missing or damaged.
        func numbers(_ seq: Int64) throws(SQLiteError) -> Numbers? {
            selection.bind(seq, at: 1)
            defer { selection.reset() }
            guard try selection.step() else { return nil }
            bytesSeen += selection.bytes(1).count
            return EventRow.numbers(selection)
        }

        func body(_ seq: Int64) throws(SQLiteError) -> [UInt8] {
            selection.bind(seq, at: 1)
            defer { selection.reset() }
            guard try selection.step(), let numbers = EventRow.numbers(selection) else {
                return []
            }
            return Array(selection.bytes(1)[numbers.bodyStart...])
        }

        /// Puts the row's tombstone in its place.
        func bury(_ seq: Int64, _ numbers: Numbers) throws(SQLiteError) {
            update.bind(seq, at: 1)
            selection.bind(seq, at: 1)
            defer { selection.reset() }
            guard try selection.step() else { return }
            let tenantSeq = EventRow.tenantSeq(numbers, selection.bytes(1), at: seq)
            let asker = EventRow.asker(numbers, selection.bytes(1))
            let row = EventRow.tombstone(
                numbers, tenantSeq: tenantSeq, asker: asker, seq, into: &buffer)
            update.bindBlob(row, at: 2)
            try update.execute()
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
