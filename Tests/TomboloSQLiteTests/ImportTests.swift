import Glibc
import TestSupport
import Testing
import TomboloEventLog
import TomboloLog
import TomboloSQLite

/// Takes items into a log in `place`; answers the ends of the files that are there then.
private func files(_ place: SQLitePlace, after items: [LogItem]) throws -> [String] {
    var chance = SplitMix64(seed: 2)
    var taking: LogImport? = try LogImport(directory: place.directory, chance: &chance)
    for item in items { try taking?.take(item) }
    if case .end = items.last { try taking?.finish() }
    taking = nil
    return ["", ".importing", "-wal", "-shm", "-journal"].filter {
        access(place.directory + "/tombolo.db" + $0, F_OK) == 0
    }
}

@Test func `nothing is left of an import that does not end`() throws {
    #expect(try files(SQLitePlace(), after: [.identity(hashKey: [1, 2], restoredAt: nil)]) == [])
}

@Test func `what an earlier log left beside it is not taken for that of an import`() throws {
    let place = SQLitePlace()
    for end in ["-wal", "-shm", "-journal"] {
        let file = try #require(fopen(place.directory + "/tombolo.db" + end, "w"))
        fputs("not its own", file)
        fclose(file)
    }
    let items: [LogItem] = [.identity(hashKey: [1, 2], restoredAt: nil), .end(items: 1)]
    #expect(try files(place, after: items) == [""])
}
