import Testing
import TomboloJSON

@testable import TomboloProgram

@Suite struct PhoneSummaryTests {
    private func summary(count: Int, seconds: String, matches: Bool = true) throws -> PhoneSummary {
        let text = """
            {"device":"phone-1","class":"lab","frames":{"asked":5,"sent":3,"merged":1,"skipped":1},
             "shown":{"count":\(count),"first_at":"2026-11-20T09:00:00.000Z",
                      "last_at":"2026-11-20T09:00:\(seconds)Z","matches":\(matches)}}
            """
        return PhoneSummary(try json(text))
    }

    @Test func `frames a second are counted between the first and the last`() throws {
        #expect(try summary(count: 51, seconds: "05.000").framesPerSecond == 10)
        #expect(try summary(count: 3, seconds: "30.000").framesPerSecond == 0.07)
        #expect(try summary(count: 2, seconds: "00.500").framesPerSecond == 2)
    }

    @Test func `fewer than two frames, or all at one instant, are no rate`() throws {
        #expect(try summary(count: 1, seconds: "05.000").framesPerSecond == 0)
        #expect(try summary(count: 0, seconds: "05.000").framesPerSecond == 0)
        #expect(try summary(count: 9, seconds: "00.000").framesPerSecond == 0)
    }

    @Test func `a phone that reported nothing is not final`() throws {
        let view = try json("{\"device\":\"phone-1\"}")
        #expect(!PhoneSummary(view).isFinal)
    }

    @Test func `a scenario converged where there are phones and all are final`() throws {
        let good = try summary(count: 2, seconds: "01.000")
        let bad = try summary(count: 2, seconds: "01.000", matches: false)
        #expect(ScenarioSummary(scenario: "runner", phones: [good, good]).converged)
        #expect(!ScenarioSummary(scenario: "runner", phones: [good, bad]).converged)
        #expect(!ScenarioSummary(scenario: "runner", phones: []).converged)
    }

    @Test func `the summary is the line that scripts rely on`() throws {
        let line = ScenarioSummary(
            scenario: "runner", phones: [try summary(count: 51, seconds: "05.000")]
        ).json.description
        #expect(
            line
                == "{\"scenario\":\"runner\",\"converged\":true,\"phones\":[{\"phone\":\"phone-1\","
                + "\"class\":\"lab\",\"asked\":5,\"sent\":3,\"merged\":1,\"skipped\":1,"
                + "\"fps\":10.0,\"final\":true}]}")
    }
}
