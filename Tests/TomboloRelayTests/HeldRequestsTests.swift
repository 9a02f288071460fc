import Testing
import TomboloCore

@testable import TomboloRelay

/// Requests that wait for the next batch.
@Suite struct HeldRequestsTests {
    @Test func `they come in their order, also where more come meanwhile`() {
        var held = HeldRequests()
        func number(_ input: Input?) -> Int? {
            if case .capacity(_, let count)? = input { count } else { nil }
        }
        for count in 1...3 { held.append(.capacity(LaneNumber(0), count)) }
        let first = number(held.popFirst())
        #expect(first == 1)
        held.append(.capacity(LaneNumber(0), 4))
        #expect(held.count == 3)
        let rest = (0..<4).map { _ in number(held.popFirst()) }
        #expect(rest == [2, 3, 4, nil])
        #expect(held.isEmpty)
    }

    @Test func `what Apple, the disk and the machine say never waits`() {
        #expect(!Input.tick.isRequest && !Input.room(true).isRequest)
        #expect(!Input.capacity(LaneNumber(0), 1).isRequest)
        #expect(
            Input.retry(DeadLetterQuery(tenant: TenantID(Identifier("a")!)), Ticket(1)).isRequest)
    }
}
