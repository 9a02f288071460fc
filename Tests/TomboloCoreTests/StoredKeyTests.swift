import CoreRig
import Testing

@testable import TomboloCore

/// API keys as the core keeps them.
@Suite struct StoredKeyTests {
    @Test func `keys that are stored together are in one batch`() throws {
        var rig = Rig()
        rig.commitsByItself = false
        rig.step(.keys([(1, [1]), (2, [2])], Ticket(1)))
        rig.step(.keys([(1, nil), (3, [3])], Ticket(2)))
        let next = rig.core.takeBatch(now: rig.now)
        let batch = try #require(next)
        let records = batch.records.filter { $0.space == .key }
        #expect(records.map(\.number) == [1, 2, 1, 3])
        #expect(records.map(\.value) == [[1], [2], nil, [3]])
        #expect(rig.core.storedKeys.map(\.number) == [2, 3])
    }
}
