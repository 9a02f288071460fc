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
            // Each turn reads the clock again.
            #expect(loop.now > start)
            #expect(gate.waitingCount == 0)
        }
    }

    @Test func `a few of those whose turn has come are before what others do`() async throws {
        try await onLoop { loop in
            let (gate, order) = (TurnGate<String>(perTurn: 8, on: loop), Order())
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<40 {
                    group.addTask(executorPreference: loop) {
                        #expect(await gate.enter("a"))
                        // Its work is more than a turn: what comes of it is kept, so that it is
                        // done.
                        var (hash, left) = (UInt64(order.names.count), 10_000_000)
                        while left > 0 {
                            (hash, left) = (hash &* 6_364_136_223_846_793_005 &+ 1, left - 1)
                        }
                        order.names.append(hash == 0 ? "" : "a")
                    }
                }
                group.addTask(executorPreference: loop) {
                    // Nobody cancels it.
                    try? await loop.sleep(for: .milliseconds(100))
                    let before = order.names.count
                    // As above.
                    try? await loop.sleep(for: .milliseconds(1))
                    // A handful is before it, and not all that have a turn.
                    order.names.append("b \(order.names.count - before)")
                }
            }
            let passed = order.names.first { $0.hasPrefix("b") }.flatMap { Int($0.dropFirst(2)) }
            #expect(passed.map { $0 <= 6 } == true, "\(order.names)")
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
