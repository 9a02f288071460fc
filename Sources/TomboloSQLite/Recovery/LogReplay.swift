package import TomboloEventLog

/// Reads a log from its beginning as fast as it goes: each row's checksum, and each activity's
/// versions and back pointers, without a copy of a body.
package final class LogReplay {
    private struct Place {
        var version: Int64 = 0
        var seq: Int64 = 0
    }

    private let path: String
    private let connection: Connection

    /// Opens the database at `path`, which is there.
    package init(path: String) throws(EventLogError) {
        self.path = path
        do throws(SQLiteError) {
            connection = try Connection(path: path, access: .reading)
        } catch {
            throw error.unusable(path)
        }
    }

    /// Answers how many events there were, and how many of them did not follow what was before.
    package func run() throws(EventLogError) -> (events: Int64, broken: Int64) {
        do throws(SQLiteError) {
            try LogSchema.requireCurrent(connection)
            let rows = try connection.prepare(LogTable.event.selection("ORDER BY key"))
            var places = NumberTable(empty: Place())
            var (events, broken) = (Int64(0), Int64(0))
            while try rows.step() {
                events += 1
                let seq = rows.key
                guard let numbers = rows.read(EventRow.numbers) else {
                    broken += 1
                    continue
                }
                let before = places[numbers.activity] ?? Place()
                let isCut = before.seq == 0 && numbers.version > 1
                if !isCut, numbers.version != before.version + 1 || numbers.previous != before.seq {
                    broken += 1
                }
                places[numbers.activity] = Place(version: numbers.version, seq: seq)
            }
            return (events, broken)
        } catch {
            throw error.unusable(path)
        }
    }
}
