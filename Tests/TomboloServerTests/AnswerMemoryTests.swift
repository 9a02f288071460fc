import Testing
import TomboloAPI

@testable import TomboloCore
@testable import TomboloServer

@Suite struct AnswerMemoryTests {
    private func answer(_ seq: Int64) -> CommandAnswer {
        CommandAnswer(
            Accepted(
                activity: Identifier("a")!, seq: seq, tenantSeq: seq, factSeq: 0, version: 1,
                status: .waiting, kind: .start, changed: true, grant: nil, decision: nil,
                destinations: DestinationCounts(),
                clip: nil, plan: nil),
            in: LogID(1))
    }

    @Test func `as many answers are kept as there is room for, the oldest goes first`() {
        var memory = AnswerMemory()
        let most = Int64(AnswerMemory.answersMax)
        for seq in 1...most { memory.remember(answer(seq)) }
        #expect(memory[1]?.seq == 1)
        memory.remember(answer(most + 1))
        #expect(memory[1] == nil)
        #expect(memory[2]?.seq == 2)
        #expect(memory[most + 1]?.seq == most + 1)
        for seq in (most + 2)...(3 * most) { memory.remember(answer(seq)) }
        #expect(memory[2 * most] == nil)
        #expect(memory[2 * most + 1] != nil)
    }

    @Test func `an answer given twice takes one place`() {
        var memory = AnswerMemory()
        for _ in 0...AnswerMemory.answersMax { memory.remember(answer(7)) }
        memory.remember(answer(8))
        #expect(memory[7] != nil)
    }
}
