import TestSupport
import Testing
import TomboloLoop

/// So many begin in a turn of the loop, and groups take turns.
@Suite struct TurnGateTests {
    /// Who began, in order. On the loop only.
    private final class Order: @unchecked Sendable {
        // Sendable: used on the loop's thread only.
        var names: [String] = []
    }

    @Test func `a group that asks often waits behind itself`() async throws {
        try await onLoop { loop in
            let (gate, order) = (TurnGate<String>(perTurn: 2, on: loop), Order())
            await withTaskGroup(of: Void.self) { group in
                for name in ["a", "a", "a", "a", "a", "a", "b", "c"] {
                    group.addTask(executorPreference: loop) {
                        #expect(await gate.enter(name))
                        order.names.append(name)
                    }
                }
            }
            #expect(order.names == ["a", "a", "a", "b", "c", "a", "a", "a"])
            #expect(gate.waitingCount == 0)
        }
    }

    @Test func `a piece that goes on goes on in a later turn`() async throws {
        try await onLoop { loop in
            let gate = TurnGate<String>(perTurn: 1, on: loop)
            let start = loop.now
            #expect(await gate.enter("a"))
            #expect(await gate.enter("a", later: true))
            // Each turn reads the clock anew.
            #expect(loop.now > start)
            #expect(gate.waitingCount == 0)
        }
    }

    @Test func `who is cancelled while it waits leaves its turn to the others`() async throws {
        try await onLoop { loop in
            let gate = TurnGate<String>(perTurn: 1, on: loop)
            #expect(await gate.enter("a"))
            await withTaskGroup(of: Bool.self) { group in
                group.addTask(executorPreference: loop) {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return await gate.enter("a")
                }
                #expect(await group.next() == false)
            }
            #expect(gate.waitingCount == 0)
            #expect(await gate.enter("b"))
        }
    }
}
