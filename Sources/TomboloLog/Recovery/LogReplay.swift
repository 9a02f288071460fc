package import TomboloEventLog

/// Reads a log from its beginning as fast as possible. Checks each row's checksum, and each
/// activity's versions and back pointers, without copying a body.
package final class LogReplay {
    private let engine: any LogReading

    package init(_ engine: any LogReading) { self.engine = engine }

    /// Returns the number of events, and how many do not follow the activity's previous one.
    package func run() throws(EventLogError) -> (events: Int64, broken: Int64) {
        var places = NumberTable<(version: Int64, seq: Int64)>(empty: (0, 0))
        var (events, broken) = (Int64(0), Int64(0))
        try engine.scan(.event) { seq, row in
            events += 1
            guard let numbers = EventRow.numbers(seq, row) else {
                broken += 1
                return true
            }
            let before = places[numbers.activity] ?? (0, 0)
            let isCut = before.seq == 0 && numbers.version > 1
            if !isCut, numbers.version != before.version + 1 || numbers.previous != before.seq {
                broken += 1
            }
            places[numbers.activity] = (numbers.version, seq)
            return true
        }
        return (events, broken)
    }
}
