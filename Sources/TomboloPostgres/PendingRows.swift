/// Changes of an open transaction to one table, before they are sent.
struct PendingRows {
    /// Each stage deletes a range of keys and then writes rows. The first stage deletes nothing.
    private(set) var stages = [Stage()]

    struct Stage {
        /// Range of keys to delete before the rows of this stage are written.
        var deleted: ClosedRange<Int64>?
        private var places: [Int64: Int] = [:]
        private(set) var keys: [Int64] = []
        private var rows: [Row] = []
        private var bytes: [UInt8] = []

        private struct Row {
            var form: Form
            var place: Range<Int>
        }

        /// `new`: the table has no row with this key. `any`: it may have one. `deleted`: delete it.
        enum Form { case new, any, deleted }

        init(deleted: ClosedRange<Int64>? = nil) { self.deleted = deleted }

        mutating func put(_ key: Int64, _ row: UnsafeRawBufferPointer, _ form: Form) {
            let start = bytes.count
            bytes += row
            let new = Row(form: form, place: start..<bytes.count)
            guard let place = places[key] else {
                places[key] = rows.count
                keys.append(key)
                rows.append(new)
                return
            }
            // A row that the table does not have stays `new`.
            let stays = rows[place].form == .new && form == .any
            rows[place] = Row(form: stays ? .new : form, place: new.place)
        }

        /// The row with this key. The inner optional is nil if the row is deleted, the outer one if
        /// this stage does not change the key.
        func row(_ key: Int64) -> ArraySlice<UInt8>?? {
            if let place = places[key] {
                let row = rows[place]
                return .some(row.form == .deleted ? nil : bytes[row.place])
            }
            return deleted?.contains(key) == true ? .some(nil) : nil
        }

        func written(_ form: Form) -> (keys: [Int64], rows: [ArraySlice<UInt8>]) {
            let chosen = rows.indices.filter { rows[$0].form == form }
            return (chosen.map { keys[$0] }, chosen.map { bytes[rows[$0].place] })
        }
    }

    mutating func put(_ key: Int64, _ row: UnsafeRawBufferPointer, _ form: Stage.Form) {
        stages[stages.count - 1].put(key, row, form)
    }

    mutating func delete(_ range: ClosedRange<Int64>) {
        if range.lowerBound == range.upperBound {
            put(range.lowerBound, UnsafeRawBufferPointer(start: nil, count: 0), .deleted)
        } else {
            stages.append(Stage(deleted: range))
        }
    }

    /// Like `Stage.row`, for the newest stage that changes the key.
    func row(_ key: Int64) -> ArraySlice<UInt8>?? {
        for stage in stages.reversed() {
            if let row = stage.row(key) { return row }
        }
        return nil
    }
}
