import Testing
import TomboloAPNs
import TomboloLoop

struct ConnectionAllowanceTests {
    private func minute(_ minutes: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: minutes * 60_000_000_000)
    }

    @Test func `one stream is used until the first accepted push, then the peer's limit`() {
        var connection = ConnectionAllowance()
        #expect(connection.free(peerAllows: 1_000) == 1)
        connection.took()
        #expect(connection.free(peerAllows: 999) == 0)
        connection.answered(accepted: false, serves: true, now: minute(0))
        #expect(connection.free(peerAllows: 1_000) == 1)
        connection.took()
        connection.answered(accepted: true, serves: true, now: minute(0))
        #expect(connection.free(peerAllows: 1_000) == 1_000)
    }

    @Test func `a peer that allows none, or fewer than are open, gets none`() {
        var connection = ConnectionAllowance()
        #expect(connection.free(peerAllows: 0) == 0)
        #expect(connection.free(peerAllows: -5) == 0)
        connection.took()
        connection.answered(accepted: true, serves: true, now: minute(0))
        #expect(connection.free(peerAllows: -5) == 0)
    }

    @Test func `a retired connection takes nothing and keeps count of what it carries`() {
        var connection = ConnectionAllowance()
        connection.took()
        connection.answered(accepted: true, serves: true, now: minute(0))
        connection.took()
        connection.took()
        connection.retire()
        connection.answered(accepted: false, serves: false, now: minute(0))
        #expect(connection.isRetired)
        #expect(connection.free(peerAllows: 1_000) == 0)
        #expect(connection.inFlight == 1)
        connection.lost()
        #expect(connection.inFlight == 0)
    }

    @Test func `a provider token changes on a connection at most every 20 minutes`() {
        var connection = ConnectionAllowance()
        #expect(connection.carries(1, now: minute(0)) == true)
        #expect(connection.carries(1, now: minute(1)) == true)
        #expect(connection.carries(2, now: minute(19)) == false)
        #expect(connection.carries(1, now: minute(19)) == true)
        #expect(connection.carries(2, now: minute(20)) == true)
        #expect(connection.carries(3, now: minute(39)) == false)
        #expect(connection.carries(3, now: minute(40)) == true)
    }

    @Test func `a refusal of the connection itself is no service`() {
        var connection = ConnectionAllowance()
        connection.took()
        connection.answered(accepted: false, serves: false, now: minute(0))
        #expect(!connection.hasServed)
        var other = ConnectionAllowance()
        other.took()
        other.answered(accepted: false, serves: true, now: minute(0))
        #expect(other.hasServed && !other.hasAccepted)
    }

    @Test func `a connection is silent since a push if nothing was answered after it`() {
        var connection = ConnectionAllowance()
        #expect(connection.isSilent(since: minute(0)))
        connection.took()
        connection.answered(accepted: true, serves: true, now: minute(5))
        #expect(!connection.isSilent(since: minute(4)))
        #expect(connection.isSilent(since: minute(5)))
        #expect(connection.isSilent(since: minute(6)))
    }

    @Test func `a connection that may carry nothing is without room, unless a push is in flight`() {
        var connection = ConnectionAllowance()
        #expect(connection.withoutRoom(peerAllows: 1, now: minute(0)) == nil)
        #expect(connection.withoutRoom(peerAllows: 0, now: minute(1)) == minute(1))
        #expect(connection.withoutRoom(peerAllows: 0, now: minute(2)) == minute(1))
        #expect(connection.withoutRoom(peerAllows: 1, now: minute(3)) == nil)
        connection.took()
        #expect(connection.withoutRoom(peerAllows: 0, now: minute(4)) == nil)
        connection.answered(accepted: true, serves: true, now: minute(5))
        #expect(connection.withoutRoom(peerAllows: -1, now: minute(5)) == minute(5))
        connection.retire()
        #expect(connection.withoutRoom(peerAllows: 0, now: minute(6)) == nil)
    }
}
