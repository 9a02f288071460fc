import TestSupport
import Testing

@Test(arguments: EventLogContract.all, Engine.allCases)
func `the log keeps the contract on each engine`(
    _ rule: EventLogContract, kind: Engine
) async throws {
    try await rule.check(in: LogPlace(kind))
}
