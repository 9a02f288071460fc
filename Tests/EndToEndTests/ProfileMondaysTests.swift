import Testing
import TomboloJSON

@testable import TomboloProgram

/// Mondays at 06:00 on virtual time, over both changes of the clock, in two zones.
@Suite struct ProfileMondaysTests {
    @Test func `each case is as the golden file has it`() throws {
        let golden = try JSONDocument(
            FileBytes.read("\(RunnerCatTests.examples)/profile/mondays.json")
        ).root
        let cases = golden["cases"]?.elements.map { $0 } ?? []
        let seen = try ProfileMondays.run()
        #expect(cases.count == seen.count)
        for (golden, seen) in zip(cases, seen) {
            #expect(golden.isSame(as: seen.document.root), "\(seen)")
        }
    }

    /// What holds of every case, whatever the golden file says.
    @Test func `a new entry comes at 06 sharp, and the producer is asked soon after`() throws {
        for line in try ProfileMondays.run() {
            let seen = line.document.root["seen"]?.elements.map { $0 } ?? []
            let days = Dictionary(grouping: seen.dropFirst(2)) {
                $0["local"]?.string?.prefix(10) ?? ""
            }
            #expect(days.count >= 1)
            for (day, lines) in days {
                #expect(lines.allSatisfy { $0["day"]?.string == "monday" }, "\(day)")
                #expect(lines.first?["local"]?.string == "\(day)T06:00:00")
                #expect(lines.first?["at"]?.string?.hasSuffix("00:00.000Z") == true)
                let asked = lines.first { $0["asked"] != nil }?["local"]?.string ?? ""
                #expect(("\(day)T06:00:00"..<"\(day)T06:10:00").contains(asked))
                #expect(lines.last?["shows"] != nil, "the fresh rank")
            }
        }
    }
}
