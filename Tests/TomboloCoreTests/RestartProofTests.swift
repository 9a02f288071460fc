import Testing
import TomboloCore

@testable import CoreRig

/// A restart forgets nothing, and repeats nothing: what is known is on record, and recovery adds
/// nothing to it. Each field of which that is not true has a row in `RestartProof` with its reason.
/// A row that is not needed any more is red: take it out. The crashes of all other tests with a rig
/// are compared too (`Rig.recover`).
@Suite struct RestartProofTests {
    private static let proof = RestartProof(configuration: Rig.configuration())

    /// Fails where a field has no row, and where a row has no field.
    private static func expect(_ found: Set<String>, _ rows: [String: String]) {
        let unneeded = rows.keys.filter { row in !found.contains { $0.contains(row) } }
        #expect(RestartProof.unexpected(found, rows) == [], "these fields have no row")
        #expect(unneeded.sorted() == [], "these rows are not needed any more")
    }

    private static func found(
        _ compare: (CoreRecovery, Instant) -> Set<String>
    ) -> Set<String> {
        var all: Set<String> = []
        for seed in 0..<60 {
            var history = RandomHistory(seed: UInt64(seed))
            history.run(steps: 40)
            for (recovery, now) in history.recoveries { all.formUnion(compare(recovery, now)) }
        }
        return all
    }

    @Test func `two recoveries of one log are equal, whenever they run`() {
        let found = Self.found { Self.proof.afterSevenSeconds($0, now: $1) }
        Self.expect(found, RestartProof.notOnRecord)
    }

    @Test func `a recovery whose batch is stored is repeated without a difference`() {
        let found = Self.found { Self.proof.afterItsOwnBatch($0, now: $1) }
        Self.expect(found, RestartProof.addedAgain)
    }
}
