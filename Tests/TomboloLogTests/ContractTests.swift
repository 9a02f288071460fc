import TestSupport
import Testing

@Test(arguments: EventLogContract.all, EngineKind.allCases)
func `the log keeps the contract on each engine`(
    _ rule: EventLogContract, kind: EngineKind
) async throws {
    try await rule.check(in: LogPlace(kind))
}
