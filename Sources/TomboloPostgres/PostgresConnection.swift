#if Postgres
import CLinux
import CPostgreSQL
import Glibc
import Synchronization
import TomboloEventLog

/// A statement with its parameters. Several of them can be sent together.
struct PostgresQuestion {
    var sql: String
    var values = PostgresValues()

    init(_ sql: String, _ values: PostgresValues = PostgresValues()) {
        (self.sql, self.values) = (sql, values)
    }
}

/// One session with the server. Its calls block. For one thread at a time. All statements of one
/// call are sent at once (libpq's pipeline mode), so they cost one round trip. Each statement is
/// prepared at its first use. Without `BEGIN`, the statements of a call form one transaction.
final class PostgresConnection {
    let database: PostgresDatabase
    let patience: PostgresPatience
    private let handle: OpaquePointer
    private let notices = PostgresNotices()
    private var prepared: [String: String] = [:]

    /// Connects, applies the settings that the log depends on, and checks that they are in force.
    ///
    /// - Parameter name: the `application_name` in `pg_stat_activity`.
    init(
        _ database: PostgresDatabase, name: String = "tombolo",
        _ patience: PostgresPatience = PostgresPatience()
    ) throws(EventLogError) {
        (self.database, self.patience) = (database, patience)
        handle = try Self.connect(database, name)
        PQsetNoticeReceiver(
            handle,
            { notices, result in
                guard let notices, let result else { return }
                Unmanaged<PostgresNotices>.fromOpaque(notices).takeUnretainedValue().note(result)
            }, Unmanaged.passUnretained(notices).toOpaque())
        guard PQserverVersion(handle) >= PostgresSession.oldestServer else {
            throw .unusable(
                cause: "\(database.title) has version \(PQserverVersion(handle) / 10_000)",
                hint: "use PostgreSQL \(PostgresSession.oldestServer / 10_000) or newer")
        }
        guard PQenterPipelineMode(handle) == 1, PQsetnonblocking(handle, 1) == 0 else {
            throw lost().logError(database)
        }
        try PostgresSession.settle(self)
    }

    deinit { PQfinish(handle) }

    /// Process id of the server's process for this session, as libpq knows it. Behind a pooler, the
    /// true one is different.
    var backend: Int32 { PQbackendPID(handle) }
    /// The true one; set when the session is settled.
    var process: Int64 = 0
    var serverVersion: Int32 { PQserverVersion(handle) }
    var isLost: Bool { fault != nil || PQstatus(handle) != CONNECTION_OK }
    /// The reason not to use the connection again although it is open; nil if it is usable.
    private var fault: String?

    private static func connect(
        _ database: PostgresDatabase, _ name: String
    ) throws(EventLogError) -> OpaquePointer {
        var words = database.words
        if words["sslmode"] == nil { words["sslmode"] = database.isNear ? "prefer" : "verify-full" }
        words["password"] = nil
        words["application_name"] = name
        words.merge(own) { _, own in own }
        var pairs = words.sorted { $0.key < $1.key }.map { ($0.key, Array($0.value.utf8)) }
        if let password = try PostgresPassword.read(database) {
            pairs.append(("password", password))
        }
        let handle = withCStrings(pairs.map { Array($0.0.utf8) }) { keys in
            withCStrings(pairs.map(\.1)) { values in PQconnectdbParams(keys, values, 0) }
        }
        guard let handle, PQstatus(handle) == CONNECTION_OK else {
            let error = PostgresError(message: message(of: handle), isLost: true)
            PQfinish(handle)
            throw error.logError(database)
        }
        return handle
    }

    /// Settings of every relay. With them, a relay notices within seconds that the server is gone.
    private static let own = [
        "target_session_attrs": "primary", "gssencmode": "disable", "connect_timeout": "2",
        "keepalives": "1", "keepalives_idle": "5", "keepalives_interval": "1",
        "keepalives_count": "3", "tcp_user_timeout": "4000", "client_encoding": "UTF8",
    ]

    private static func message(of handle: OpaquePointer?) -> String {
        let text = String(cString: PQerrorMessage(handle))
        let lines = text.split(whereSeparator: \.isNewline).map {
            $0.drop { $0.isWhitespace }
        }
        return lines.isEmpty ? "the connection was lost" : lines.joined(separator: " ")
    }

    private func lost() -> PostgresError {
        PostgresError(message: fault ?? Self.message(of: handle), isLost: isLost)
    }

    /// Marks the connection as unusable: something was sent only in part, or the results do not fit
    /// the statements, so nobody knows what the next result belongs to.
    private func broken(_ fault: String? = nil) -> PostgresError {
        self.fault = self.fault ?? fault ?? Self.message(of: handle)
        return lost()
    }

    // MARK: Asking

    /// Sends the statements together and returns their results. Throws the first error. Then no
    /// statement had an effect, unless the connection was lost: in that case nobody knows.
    func answers(_ questions: [PostgresQuestion]) throws(PostgresError) -> [PostgresAnswer] {
        guard fault == nil else { throw lost() }
        notices.warning = nil
        var expected: [(sql: String?, place: Int)] = []
        for (place, question) in questions.enumerated() {
            let known = prepared[question.sql] ?? names[question.sql]
            let name = known ?? "s\(namesGiven)"
            if known == nil {
                guard PQsendPrepare(handle, name, question.sql, 0, nil) == 1 else {
                    throw broken()
                }
                expected.append((question.sql, place))
                names[question.sql] = name
                namesGiven += 1
            }
            guard send(name, question.values) else { throw broken() }
            expected.append((nil, place))
        }
        guard PQpipelineSync(handle) == 1 else { throw broken() }
        return try collect(expected)
    }

    /// Names of the statements that were sent to be prepared and are not confirmed yet.
    private var names: [String: String] = [:]
    private var namesGiven = 0

    private func send(_ name: String, _ values: PostgresValues) -> Bool {
        values.bytes.withUnsafeBytes { bytes in
            let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            var pointers: [UnsafePointer<CChar>?] = []
            var (lengths, start): ([Int32], Int) = ([], 0)
            for end in values.ends {
                // An empty value needs a pointer too, because a nil pointer means NULL.
                pointers.append(base.map { $0 + start } ?? Self.nothing)
                lengths.append(Int32(end - start))
                start = end
            }
            let formats = [Int32](repeating: 1, count: lengths.count)
            return PQsendQueryPrepared(
                handle, name, Int32(lengths.count), pointers, lengths, formats, 1) == 1
        }
    }

    /// Pointer for empty values.
    private static nonisolated(unsafe) let nothing = UnsafePointer(
        UnsafeMutablePointer<CChar>.allocate(capacity: 1))

    private func collect(
        _ expected: [(sql: String?, place: Int)]
    ) throws(PostgresError) -> [PostgresAnswer] {
        defer { names = [:] }
        var answers: [PostgresAnswer] = []
        var error: PostgresError?
        var index = 0
        while true {
            guard let result = next() else {
                // A nil result follows the results of each statement. After a lost connection, all
                // are nil.
                guard !isLost else { throw error ?? lost() }
                continue
            }
            let answer = PostgresAnswer(result)
            switch PQresultStatus(result) {
            case PGRES_PIPELINE_SYNC:
                if let error { throw error }
                return answers
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
                guard index < expected.count else { throw broken("it answers what nobody asked") }
                if let sql = expected[index].sql {
                    prepared[sql] = names[sql]
                } else {
                    answers.append(answer)
                }
            case PGRES_PIPELINE_ABORTED: break
            default:
                let place = index < expected.count ? expected[index].place : 0
                error = error ?? Self.error(result, place, isLost: isLost)
            }
            index += 1
        }
    }

    /// The next result. Nil after a statement's results, or if the server is silent.
    private func next() -> OpaquePointer? {
        var (silent, most): (Int32, Int32) = (0, 0)
        while true {
            let unsent = PQflush(handle)
            guard unsent == 1 || PQisBusy(handle) == 1, PQstatus(handle) == CONNECTION_OK else {
                return PQgetResult(handle)
            }
            let events = POLLIN | (unsent == 1 ? POLLOUT : 0)
            var socket = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
            if poll(&socket, 1, Self.step) > 0 {
                (silent, most) = (0, 0)
                if Int32(socket.revents) & ~POLLOUT != 0 { PQconsumeInput(handle) }
            } else {
                silent += Self.step
                guard silent >= max(patience.milliseconds, patience.isEnding ? 0 : most) else {
                    continue
                }
                guard patience.looks, !patience.isEnding, isAtWork else {
                    fault = "it has not answered for \(silent / 1_000) s"
                    return nil
                }
                most = patience.longer(than: silent)
            }
        }
    }

    private static let step: Int32 = 50

    /// True if the server works on the statements of this session, as another session sees it. Then
    /// to end them would only lose the work: a slow disk, a standby that is away, a locked table.
    private var isAtWork: Bool {
        let soon = PostgresPatience(milliseconds: 1_000, looks: false)
        do throws(EventLogError) {
            return try PostgresConnection(database, soon).ask(
                """
                SELECT pid FROM pg_stat_activity WHERE pid = $1::int8 AND state = 'active'
                    AND wait_event_type IS DISTINCT FROM 'Client'
                """, PostgresValues(process)
            ).count > 0
        } catch {
            // The server cannot be asked: it is away, or the network is.
            return false
        }
    }

    private static func error(
        _ result: OpaquePointer, _ place: Int, isLost: Bool
    ) -> PostgresError {
        func text(_ field: UnsafePointer<CChar>?) -> String? { field.map { String(cString: $0) } }
        let message = text(tombolo_pq_message(result)) ?? text(PQresultErrorMessage(result)) ?? ""
        return PostgresError(
            state: text(tombolo_pq_sqlstate(result)) ?? "",
            message: message.split(whereSeparator: \.isNewline).joined(separator: " "),
            isFatal: text(tombolo_pq_severity(result)) != "ERROR", isLost: isLost, place: place)
    }

    /// Like `answers`, but throws the errors of a log.
    func ask(_ questions: [PostgresQuestion]) throws(EventLogError) -> [PostgresAnswer] {
        do throws(PostgresError) { return try answers(questions) } catch {
            throw error.logError(database)
        }
    }

    func ask(_ sql: String, _ values: PostgresValues = PostgresValues())
        throws(EventLogError) -> PostgresAnswer
    {
        try ask([PostgresQuestion(sql, values)]).only(database)
    }

    /// Rolls back a transaction that is still open after an error.
    func rollBack() throws(EventLogError) {
        guard PQtransactionStatus(handle) != PQTRANS_IDLE else { return }
        _ = try ask([PostgresQuestion("ROLLBACK")])
    }

    /// The server's warning about the last statements; nil if there was none.
    var warning: String? { notices.warning }
}

extension [PostgresAnswer] {
    /// The result of the only statement; libpq gives one result for each.
    func only(_ database: PostgresDatabase) throws(EventLogError) -> PostgresAnswer {
        guard let answer = first else {
            throw PostgresError(message: "it gave no answer").logError(database)
        }
        return answer
    }
}

/// Receives the server's notices from libpq.
private final class PostgresNotices {
    var warning: String?

    func note(_ result: OpaquePointer) {
        guard let severity = tombolo_pq_severity(result), String(cString: severity) == "WARNING"
        else { return }
        warning = tombolo_pq_message(result).map { String(cString: $0) } ?? "a warning"
    }
}

/// Calls `body` with the texts as C strings, followed by nil.
private func withCStrings<Answer>(
    _ texts: [[UInt8]], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Answer
) -> Answer {
    let copies = texts.map { strdup(($0 + [0]).map(CChar.init(bitPattern:))) }
    defer { for copy in copies { free(copy) } }
    return (copies.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer {
        body($0.baseAddress!)
    }
}
#endif
