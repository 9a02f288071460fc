import CSQLite
import Glibc
import TestSupport
import Testing
import TomboloCore
import TomboloEventLog
import TomboloLog
import TomboloSQLite

/// Runs `sql` on the database of `place`, as somebody with a shell would.
func shell(_ place: SQLitePlace, _ sql: String) {
    var database: OpaquePointer?
    #expect(sqlite3_open(place.directory + "/tombolo.db", &database) == SQLITE_OK)
    #expect(sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK)
    sqlite3_close(database)
}

/// The refusal of the log in `place`, which must be one.
private func refusal(_ place: SQLitePlace) throws -> (cause: String, hint: String) {
    do {
        _ = try place.reopen()
    } catch EventLogError.unusable(let cause, let hint) {
        return (cause, hint)
    }
    Issue.record("it was opened")
    return ("", "")
}

@Test func `a second relay is refused, and told which process is the first`() async throws {
    let place = SQLitePlace()
    let first = try place.reopen()
    #expect(
        throws: EventLogError.owned(
            cause: "another relay (process \(getpid())) has \(place.directory) open",
            hint: "stop that one, or give this one a data directory of its own")
    ) { _ = try place.reopen() }
    await first.close()
    await (try place.reopen()).close()
}

@Test func `a database that another program locks refuses for a while, and goes on`() async throws {
    let place = SQLitePlace()
    let log = try place.reopen()
    _ = try await log.append(Sample.batch(Sample.event(1, after: 0)))
    var database: OpaquePointer?
    #expect(sqlite3_open(place.directory + "/tombolo.db", &database) == SQLITE_OK)
    #expect(sqlite3_exec(database, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK)
    for _ in 0..<2 {
        let error = await #expect(throws: EventLogError.self) {
            try await log.append(Sample.batch(Sample.event(1, after: 1)))
        }
        guard case .unavailable(let cause, let hint) = error else {
            Issue.record("\(error as Any)")
            break
        }
        #expect(cause.hasSuffix("another program locks the database for writing"))
        #expect(hint.contains("fuser"))
    }
    #expect(sqlite3_exec(database, "COMMIT", nil, nil, nil) == SQLITE_OK)
    sqlite3_close(database)
    #expect(try await log.append(Sample.batch(Sample.event(1, after: 1))).firstSeq == 2)
    await log.close()
}

@Test func `a log that was dropped without being closed leaves nothing behind`() async throws {
    let place = SQLitePlace()
    var log: SQLiteEventLog? = try place.reopen()
    _ = try await log?.append(Sample.batch(Sample.event(1, after: 0)))
    log = nil
    #expect(access(place.directory + "/tombolo.db-wal", F_OK) == 0, "as after a crash")
    let again = try place.reopen()
    #expect(try await again.recover().lastSeq == 1)
    await again.close()
    #expect(access(place.directory + "/tombolo.db-wal", F_OK) != 0, "all is in the database")
}

@Test func `a newer schema is refused and left as it is`() async throws {
    let place = SQLitePlace()
    await (try place.reopen()).close()
    shell(place, "PRAGMA user_version = 99")
    let refused = try refusal(place)
    #expect(refused.cause.contains("it has schema 99, this program knows up to 6"))
    #expect(refused.hint.hasPrefix("run the newer tombolo that wrote it"))
    shell(place, "PRAGMA user_version = 6")
    await (try place.reopen()).close()
}

@Test func `an older schema is refused, with the way into a new log, and left as it is`() throws {
    let place = SQLitePlace()
    shell(place, "CREATE TABLE log(a); PRAGMA application_id = 1414349391; PRAGMA user_version = 4")
    let refused = try refusal(place)
    #expect(refused.cause.contains("it has schema 4, this program reads 6"))
    #expect(
        refused.hint.contains("tombolo log export") && refused.hint.contains("tombolo log import"))
    #expect(try refusal(place) == refused)
    let read = Result { () throws(EventLogError) in
        try LogVerification(path: place.directory + "/tombolo.db").run { _ in }.events
    }
    guard case .failure(.unusable(let cause, _)) = read else {
        Issue.record("it was read")
        return
    }
    #expect(cause == refused.cause)
}

@Test func `the database of another program is refused`() throws {
    let place = SQLitePlace()
    shell(place, "CREATE TABLE theirs(a)")
    #expect(try refusal(place).cause.contains("is the database of another program"))
}

@Test func `what is no database is refused`() throws {
    let place = SQLitePlace()
    let file = try #require(fopen(place.directory + "/tombolo.db", "w"))
    for _ in 0..<1_000 { fputs("this is a letter to a friend\n", file) }
    fclose(file)
    #expect(try refusal(place).hint.hasPrefix("restore a backup"))
}

@Test func `a directory that cannot be made is named`() throws {
    var chance = SplitMix64(seed: 1)
    #expect(
        throws: EventLogError.unusable(
            cause: "/proc/no/such: No such file or directory",
            hint: "name a directory, in one that exists, that the relay's user may write to")
    ) {
        try SQLiteEventLog(directory: "/proc/no/such", chance: &chance)
    }
}

@Test func `directory and files are the user's own`() async throws {
    let place = SQLitePlace()
    let inner = place.directory + "/data"
    var chance = SplitMix64(seed: 1)
    let log = try SQLiteEventLog(directory: inner, chance: &chance)
    _ = try await log.append(Sample.batch(Sample.event(1, after: 0)))
    for (name, mode) in [
        ("", 0o700), ("/tombolo.db", 0o600), ("/tombolo.db-wal", 0o600), ("/tombolo.lock", 0o600),
        ("/tombolo.db-shm", 0o600),
    ] as [(String, mode_t)] {
        var status = stat()
        #expect(stat(inner + name, &status) == 0)
        #expect(status.st_mode & 0o777 == mode, "\(name)")
    }
    await log.close()
    for file in ["/tombolo.db", "/tombolo.lock", "/tombolo.ballast"] { unlink(inner + file) }
    rmdir(inner)
}
