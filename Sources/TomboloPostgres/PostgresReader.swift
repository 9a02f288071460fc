#if Postgres
import TomboloEventLog
import TomboloLog

/// The log's tables in one schema of PostgreSQL, for reading. Long results are read in pieces of at
/// most some megabytes.
class PostgresReader: LogReading {
    final var connection: PostgresConnection
    /// The `application_name`, also for later reconnections.
    private let name: String
    private enum Moment { case none, wanted, begun }
    private var moment = Moment.none

    var schema: String { connection.database.quotedSchema }

    init(_ connection: PostgresConnection, name: String) {
        (self.connection, self.name) = (connection, name)
    }

    // MARK: Asking

    /// Sizes of the pieces in which a range is read. The first piece has enough rows for a page;
    /// later ones have about `bytesWanted` bytes.
    private static let (rowsFirst, bytesWanted, rowsMax) = (Int64(128), 1 << 20, Int64(4_096))
    /// Maximum number of keys or ranges in one call.
    private static let groupMax = 64

    func ask(_ questions: [PostgresQuestion]) throws(EventLogError) -> [PostgresAnswer] {
        guard moment == .wanted else { return try connection.ask(questions) }
        moment = .begun
        let begin = PostgresQuestion("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        return Array(try connection.ask([begin] + questions).dropFirst())
    }

    func ask(_ sql: String, _ values: PostgresValues) throws(EventLogError) -> PostgresAnswer {
        try ask([PostgresQuestion(sql, values)]).only(connection.database)
    }

    func atOneMoment<Answer>(
        _ body: () throws(EventLogError) -> Answer
    ) throws(EventLogError) -> Answer {
        guard moment == .none else { return try body() }
        moment = .wanted
        let outcome = Result { () throws(EventLogError) in try body() }
        defer { moment = .none }
        if moment == .begun, !connection.isLost {
            // Nothing was written, so an error of the rollback does not matter.
            if case .failure = outcome {
                try? connection.rollBack()  // see above
            } else {
                _ = try connection.ask([PostgresQuestion("COMMIT")])
            }
        }
        return try outcome.get()
    }

    func renew() -> Bool {
        guard connection.isLost else { return false }
        do throws(EventLogError) {
            connection = try PostgresConnection(
                connection.database, name: name, connection.patience)
            return true
        } catch {
            // The server is still unreachable; the query will fail.
            return false
        }
    }

    // MARK: Reading

    func row<Answer>(
        _ table: LogTable, _ key: Int64, _ take: (Int64, RawSpan) -> Answer?
    ) throws(EventLogError) -> Answer? {
        var answer: Answer?
        try rows(table, [key]) { key, row in
            answer = take(key, row)
            return false
        }
        return answer
    }

    func rows(
        _ table: LogTable, _ keys: [Int64], _ take: (Int64, RawSpan) -> Bool
    ) throws(EventLogError) {
        for start in stride(from: 0, to: keys.count, by: Self.groupMax) {
            let group = Array(keys[start..<min(start + Self.groupMax, keys.count)])
            var values = PostgresValues()
            values.add(group)
            if table.isSharded { values.add(table.shard) }
            let answer = try ask(table.sql(.many, in: schema), values)
            let places = Self.places(answer, 0)
            for key in group {
                guard let place = places[key] else { continue }
                guard take(key, answer.bytes(place, 1).bytes) else { return }
            }
        }
    }

    private static func places(_ answer: PostgresAnswer, _ column: Int32) -> [Int64: Int] {
        var places: [Int64: Int] = [:]
        for row in 0..<answer.count { places[answer.integer(row, column)] = row }
        return places
    }

    func everyShard(
        _ kind: LogTable.Kind, _ keys: [Int64], _ take: (Int64, Int64, RawSpan) -> Bool
    ) throws(EventLogError) {
        var found: [(shard: Int64, place: Int, answer: PostgresAnswer, row: Int)] = []
        for start in stride(from: 0, to: keys.count, by: Self.groupMax) {
            let group = Array(keys[start..<min(start + Self.groupMax, keys.count)])
            var values = PostgresValues()
            values.add(group)
            let answer = try ask(LogTable.everyShard(kind, in: schema), values)
            for row in 0..<answer.count {
                let place = group.firstIndex(of: answer.integer(row, 1)) ?? 0
                found.append((answer.integer(row, 0), start + place, answer, row))
            }
        }
        found.sort { ($1.shard, $0.place) < ($0.shard, $1.place) }
        for (shard, place, answer, row) in found {
            guard take(shard, keys[place], answer.bytes(row, 2).bytes) else { return }
        }
    }

    func scan(
        _ table: LogTable, _ ranges: [ClosedRange<Int64>], _ order: LogOrder,
        _ take: (Int64, RawSpan) throws(EventLogError) -> Bool
    ) throws(EventLogError) {
        let use: PostgresUse = order == .rising ? .rising : .falling
        for start in stride(from: 0, to: ranges.count, by: Self.groupMax) {
            let group = ranges[start..<min(start + Self.groupMax, ranges.count)]
            let questions = group.map { question(use, table, $0, rows: Self.rowsFirst) }
            let answers = try ask(questions)
            for (range, answer) in zip(group, answers) {
                let goesOn = try walk(use, table, range, answer, Self.rowsFirst) {
                    answer, row throws(EventLogError) in
                    try take(answer.integer(row, 0), answer.bytes(row, 1).bytes)
                }
                guard goesOn else { return }
            }
        }
    }

    func lengths(
        _ table: LogTable, _ keys: ClosedRange<Int64>, _ take: (Int64, Int64) -> Bool
    ) throws(EventLogError) {
        let answer = try ask([question(.lengths, table, keys, rows: Self.rowsMax)])
            .only(connection.database)
        _ = try walk(.lengths, table, keys, answer, Self.rowsMax) {
            answer, row throws(EventLogError) in
            take(answer.integer(row, 0), answer.integer(row, 1))
        }
    }

    private func question(
        _ use: PostgresUse, _ table: LogTable, _ keys: ClosedRange<Int64>, rows: Int64
    ) -> PostgresQuestion {
        var values = PostgresValues(keys.lowerBound, keys.upperBound, rows)
        if table.isSharded { values.add(table.shard) }
        return PostgresQuestion(table.sql(use, in: schema), values)
    }

    /// Calls `take` for the rows of a range. `first` is the result for its first piece, of at most
    /// `asked` rows. Returns false if `take` ended the walk.
    private func walk(
        _ use: PostgresUse, _ table: LogTable, _ keys: ClosedRange<Int64>, _ first: PostgresAnswer,
        _ asked: Int64, _ take: (PostgresAnswer, Int) throws(EventLogError) -> Bool
    ) throws(EventLogError) -> Bool {
        var (answer, asked, left) = (first, asked, keys)
        while true {
            var bytes = 0
            for row in 0..<answer.count {
                bytes += answer.bytes(row, 1).count
                guard try take(answer, row) else { return false }
            }
            guard answer.count == asked, answer.count > 0 else { return true }
            let last = answer.integer(answer.count - 1, 0)
            if use == .falling {
                guard last > left.lowerBound else { return true }
                left = left.lowerBound...last - 1
            } else {
                guard last < left.upperBound else { return true }
                left = last + 1...left.upperBound
            }
            let fitting = Int64(Self.bytesWanted / max(1, bytes / answer.count))
            asked = min(max(fitting, 16), Self.rowsMax)
            answer = try ask([question(use, table, left, rows: asked)]).only(connection.database)
        }
    }

    func trail(
        _ trail: LogTrail, from key: Int64, _ take: (Int64, RawSpan) -> Bool
    ) throws(EventLogError) {
        let sql = trail.sql(in: schema)
        var (next, isFirst) = (key, true)
        while next > 0 {
            var values = PostgresValues(next, Self.rowsFirst)
            switch trail.leap {
            case .none: break
            case .above(let number), .after(let number): values.add(number)
            }
            let answer = try ask(sql, values)
            // The last row of a piece is the first row of the next.
            for row in (isFirst ? 0 : 1)..<max(answer.count, isFirst ? 0 : 1) {
                guard take(answer.integer(row, 0), answer.bytes(row, 1).bytes) else { return }
            }
            guard answer.count == Self.rowsFirst else { return }
            (next, isFirst) = (answer.integer(answer.count - 1, 0), false)
        }
    }

    func edge(
        _ table: LogTable, _ order: LogOrder, in keys: ClosedRange<Int64>
    ) throws(EventLogError) -> Int64? {
        var values = PostgresValues(keys.lowerBound, keys.upperBound)
        if table.isSharded { values.add(table.shard) }
        let answer = try ask(
            table.sql(order == .rising ? .least : .greatest, in: schema), values)
        return answer.isNull(0, 0) ? nil : answer.integer(0, 0)
    }

    func shards(of kind: LogTable.Kind) throws(EventLogError) -> [Int64] {
        let sql = LogTable.shards(kind, in: schema, .rising)
        let answer = try ask("\(sql) SELECT shard FROM s WHERE shard IS NOT NULL", PostgresValues())
        return (0..<answer.count).map { answer.integer($0, 0) }
    }

    /// No check here: the server itself reports damaged pages (`data_checksums`).
    func fault() throws(EventLogError) -> String? { nil }
}
#endif
