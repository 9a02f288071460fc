import CSQLite
import Glibc
import TestSupport
import Testing
import TomboloCore
import TomboloEventLog

@testable import TomboloLog
@testable import TomboloSQLite

/// A log that was left as a crash leaves it, with three events.
private func crashed() async throws -> SQLitePlace {
    let place = SQLitePlace()
    let log = try place.reopen()
    for activity in Int64(1)...3 {
        _ = try await log.append(Sample.batch(Sample.event(activity, after: 0)))
    }
    return place
}

/// What to do, as the refusal of `body` says.
private func hint(_ body: () throws -> Void) -> String {
    do {
        try body()
        Issue.record("it was taken")
    } catch EventLogError.unusable(_, let hint) {
        return hint
    } catch {
        Issue.record(error)
    }
    return ""
}

@Suite struct FilesTests {
    @Test func `a missing -shm is made again from the -wal`() async throws {
        let place = try await crashed()
        #expect(access(place.directory + "/tombolo.db-wal", F_OK) == 0)
        #expect(unlink(place.directory + "/tombolo.db-shm") == 0)
        let log = try place.reopen()
        #expect(try await log.recover().lastSeq == 3)
        await log.close()
    }

    @Test func `a -wal that is none is passed over`() async throws {
        let place = try await crashed()
        await (try place.reopen()).close()
        let file = try #require(fopen(place.directory + "/tombolo.db-wal", "w"))
        for _ in 0..<5_000 { fputs("not a write-ahead log\n", file) }
        fclose(file)
        let log = try place.reopen()
        let recovered = try await log.recover()
        #expect(recovered.lastSeq == 3)
        #expect(recovered.damage.isEmpty)
        _ = try await log.append(Sample.batch(Sample.event(1, after: 1)))
        await log.close()
    }

    @Test func `heads that are ahead of the log are set aside`() async throws {
        let place = try await crashed()
        await (try place.reopen()).close()
        shell(place, "DELETE FROM event WHERE key = 3")
        let log = try place.reopen()
        let recovered = try await log.recover()
        #expect(recovered.heads.map(\.activity.rawValue) == [1, 2])
        #expect(recovered.damaged.map(\.number.rawValue) == [3])
        #expect(recovered.damaged[0].reason.hasPrefix("its head is at event 3, which"))
        await log.close()
    }

    @Test func `a log that may only be read is refused with what to do, whoever asks`() throws {
        let disk = SimulatedDisk(seed: 1)
        disk.create("tombolo.db")
        var chance = SplitMix64(seed: 1)
        _ = try LogWriter(path: "tombolo.db", vfs: disk.vfsName, chance: &chance)
        disk.isReadOnly = true
        #expect(
            throws: EventLogError.unusable(
                cause: "tombolo.db: SQLite: attempt to write a readonly database (8)",
                hint: "let the user who runs the relay read and write it and its directory")
        ) {
            try LogWriter(path: "tombolo.db", vfs: disk.vfsName, chance: &chance)
        }
    }

    @Test(.enabled(if: geteuid() != 0, "root writes everywhere"))
    func `a file that may only be read is refused with what to do`() async throws {
        let place = try await crashed()
        await (try place.reopen()).close()
        chmod(place.directory + "/tombolo.db", 0o400)
        do {
            _ = try place.reopen()
            Issue.record("it was opened")
        } catch EventLogError.unusable(_, let hint) {
            #expect(hint == "let the user who runs the relay read and write it and its directory")
        }
    }

    @Test(
        arguments: [
            (89, 1, false, false), (90, 1, false, true), (89, 1, true, true), (88, 1, true, true),
            (87, 1, true, false), (100, DiskRoom.bytesPlenty, false, false),
            (100, DiskRoom.bytesPlenty - 1, false, true),
        ] as [(UInt64, UInt64, Bool, Bool)])
    func `events are refused from nine tenths on, and taken again a little below`(
        _ percent: UInt64, _ free: UInt64, _ already: Bool, _ refuses: Bool
    ) {
        #expect(
            DiskRoom.refuses(percent: percent, free: free, already: already) == refuses)
    }

    @Test func `an ample disk is measured once a second, any other each time`() {
        let now = Instant(nanoseconds: 5)
        #expect(DiskRoom.ampleUntil(free: DiskRoom.bytesAmple, now: now) == now + .seconds(1))
        #expect(DiskRoom.ampleUntil(free: DiskRoom.bytesAmple - 1, now: now) == .distantPast)
    }

    @Test func `the room of a ballast that was given up is not the relay's`() {
        let percent = { (used: UInt64) in
            DiskRoom.percent(used: used, available: 1_000 - used, owed: 100)
        }
        #expect(percent(780) == 88, "without the ballast it would be 78")
        #expect(percent(950) == 100)
        #expect(DiskRoom.percent(used: 780, available: 220, owed: 0) == 78)
    }

    @Test func `one that was killed is known by its lock, and one that ended is not`() throws {
        let place = SQLitePlace()
        var held: DataDirectory? = try DataDirectory(place.directory)
        #expect(held?.lastRun == nil, "there was none")
        try held?.createDatabase()
        let line = try FileLines.first(place.directory + "/tombolo.lock")
        held = nil
        held = try DataDirectory(place.directory)
        #expect(held?.lastRun == nil, "it has ended")
        held = nil
        try FileLines.write(line, to: place.directory + "/tombolo.lock")
        held = try DataDirectory(place.directory)
        #expect(held?.lastRun != nil)
        held = nil
        try FileLines.write(line, to: place.directory + "/tombolo.lock")
        // The clock was in 2283, which an `Instant` cannot count.
        let far = timeval(tv_sec: 9_900_000_000, tv_usec: 0)
        #expect(utimes(place.directory + "/tombolo.db", [far, far]) == 0)
        held = try DataDirectory(place.directory)
        #expect(held?.lastRun != nil)
        held = nil
        // As older programs leave it, however they end.
        try FileLines.write("4711", to: place.directory + "/tombolo.lock")
        held = try DataDirectory(place.directory)
        #expect(held?.lastRun == nil)
        held = nil
    }

    @Test func `a directory is held for reading, and its lock stays as it is`() throws {
        let place = SQLitePlace()
        let lock = place.directory + "/tombolo.lock"
        #expect(try DataDirectory(reading: place.directory).lastRun == nil)
        #expect(access(lock, F_OK) != 0, "a backup has none, and gets none")
        try FileLines.write("4711 runs", to: lock)
        var held: DataDirectory? = try DataDirectory(reading: place.directory)
        #expect(throws: EventLogError.self) { try DataDirectory(place.directory) }
        #expect(held != nil)
        held = nil
        #expect(try FileLines.first(lock) == "4711 runs")
        held = try DataDirectory(place.directory)
        #expect(throws: EventLogError.self) { try DataDirectory(reading: place.directory) }
        held = nil
    }

    @Test func `a lock that is a link is refused, and its target stays as it is`() throws {
        let place = SQLitePlace()
        let (lock, target) = (place.directory + "/tombolo.lock", place.directory + "/tombolo.db")
        try FileLines.write("a letter to a friend", to: target)
        #expect(symlink(target, lock) == 0)
        let refusal = EventLogError.unusable(
            cause: "\(lock) is a link, and has to be a file of its own",
            hint: "remove it: rm \(lock)")
        #expect(throws: refusal) { try DataDirectory(place.directory) }
        #expect(throws: refusal) { try DataDirectory(reading: place.directory) }
        #expect(try FileLines.first(target) == "a letter to a friend")
    }

    @Test func `no new log is made where an import was killed`() async throws {
        let place = SQLitePlace()
        let draft = place.directory + "/tombolo.db.importing"
        try FileLines.write("half a log", to: draft)
        #expect(
            throws: EventLogError.unusable(
                cause: "an import into \(place.directory) has not come to its end",
                hint: "run the import again: it starts from the beginning; or rm \(draft)")
        ) { try place.reopen() }
        #expect(access(place.directory + "/tombolo.db", F_OK) != 0)
        var chance = SplitMix64(seed: 1)
        let taking = try LogImport(directory: place.directory, chance: &chance)
        try taking.take(.cut(seq: 0, fact: 0, activity: 0))
        try taking.finish()
        await (try place.reopen()).close()
    }

    @Test func `an older log is refused with the way on, and its WAL stays`() async throws {
        let (place, other) = (try await crashed(), SQLitePlace())
        let path = place.directory + "/tombolo.db"
        do {
            let connection = try Connection(path: path, access: .writing)
            connection.leaveWALOnClose()
            try connection.execute("PRAGMA user_version = 5")
        }
        let files = [path, path + "-wal"]
        let before = files.map(fileBytes)
        #expect(before.allSatisfy { !$0.isEmpty })
        let copy = other.directory + "/copy"
        let opened = hint { _ = try place.reopen() }
        let copied = hint { try LogBackup.create(of: place.directory, at: copy) { _, _ in } }
        let restored = hint {
            var chance = SplitMix64(seed: 1)
            try LogBackup.restore(
                path, into: other.directory, at: .distantPast, chance: &chance
            ) { _, _ in }
        }
        #expect(opened.hasPrefix("export it with the tombolo that wrote it"))
        #expect(copied == opened)
        #expect(access(copy, F_OK) != 0)
        #expect(restored == opened)
        #expect(files.map(fileBytes) == before)
    }

    @Test func `the ballast is there, and is given up once`() async throws {
        let place = SQLitePlace()
        let room = DiskRoom(directory: place.directory)
        room.fillBallast()
        #expect(room.makeRoom())
        #expect(!room.makeRoom())
        #expect(access(place.directory + "/tombolo.ballast", F_OK) != 0)
    }
}

/// Small files of a test.
private enum FileLines {
    static func first(_ path: String) throws -> String {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count).prefix { $0 != 10 }, as: UTF8.self)
    }

    static func write(_ line: String, to path: String) throws {
        let file = try #require(fopen(path, "w"))
        defer { fclose(file) }
        fputs(line + "\n", file)
    }
}
