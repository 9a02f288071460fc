import TestSupport
import Testing

@Test(arguments: EventLogContract.all)
func `the SQLite log keeps the contract`(_ rule: EventLogContract) async throws {
    try await rule.check(in: SQLitePlace())
}
