import Testing
import TomboloCore

@testable import TomboloRelay

/// Requests that wait for the next batch.
@Suite struct HeldRequestsTests {
    @Test func `requests keep their order, even if more come meanwhile`() {
        var held = HeldRequests()
        func number(_ input: Input?) -> Int? {
            if case .capacity(_, let count)? = input { count } else { nil }
        }
        for count in 1...3 { _ = held.append(.capacity(UpstreamNumber(0), count)) }
        let first = number(held.popFirst())
        #expect(first == 1)
        _ = held.append(.capacity(UpstreamNumber(0), 4))
        #expect(held.count == 3)
        let rest = (0..<4).map { _ in number(held.popFirst()) }
        #expect(rest == [2, 3, 4, nil])
        #expect(held.isEmpty)
    }

    @Test
    func `a request beyond the count or the bytes is refused, and an input without a ticket waits`()
    {
        let key = ActivityKey(tenant: TenantID(Identifier("a")!), id: Identifier("b")!)
        func command(_ bytes: Int) -> Input {
            .command(
                Command(
                    activity: key, content: .stop(clip: nil),
                    body: [UInt8](repeating: 32, count: bytes)),
                Ticket(7))
        }
        var held = HeldRequests()
        for _ in 0..<HeldRequests.countMax {
            let refused = held.append(command(2))
            #expect(refused == nil)
        }
        let beyond = held.append(command(2))
        #expect(beyond == Ticket(7) && held.count == HeldRequests.countMax)
        let quiet = held.append(.channel(.notMade(UpstreamNumber(0)), nil))
        #expect(quiet == nil)
        while held.popFirst() != nil {}
        let large = held.append(command(HeldRequests.bytesMax))
        let second = held.append(command(1))
        #expect(large == nil && second == Ticket(7))
        _ = held.popFirst()
        let third = held.append(command(1))
        #expect(third == nil)
    }

    @Test func `inputs from Apple, the disk and the machine never wait`() {
        #expect(!Input.tick.isRequest && !Input.room(true).isRequest)
        #expect(!Input.capacity(UpstreamNumber(0), 1).isRequest)
        #expect(
            Input.retry(DeadLetterQuery(tenant: TenantID(Identifier("a")!)), Ticket(1)).isRequest)
    }
}
