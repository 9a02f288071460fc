import Testing
import TomboloJSON

@testable import TomboloProgram

/// Taps on a door's widget on virtual time: in time, or none.
@Suite struct DoorTapsTests {
    @Test func `each case is as the golden file has it`() throws {
        let golden = try JSONDocument(
            FileBytes.read("\(RunnerCatTests.examples)/door/taps.json")
        ).root
        let cases = golden["cases"]?.elements.map { $0 } ?? []
        let seen = try DoorTaps.run()
        #expect(cases.count == seen.count)
        for (golden, seen) in zip(cases, seen) {
            #expect(golden.isSame(as: seen.document.root), "\(seen)")
        }
    }

    /// What holds of every case, whatever the golden file says.
    @Test func `a door opens where a producer unlocks it, and nowhere else`() throws {
        let seen = try DoorTaps.run().map(\.document.root)
        for one in seen {
            #expect((one["shows"]?.string == "unlocked") == (one["producer"]?.string == "unlocks"))
        }
        #expect(Set(seen.compactMap { $0["producer"]?.string }) == ["unlocks", "too late"])
    }
}
