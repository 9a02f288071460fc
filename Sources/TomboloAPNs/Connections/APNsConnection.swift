import TomboloHTTP
import TomboloLoop

/// One connection of a lane: the HTTP/2 client, and what it may carry.
///
/// On the loop only, as the client it belongs to.
final class APNsConnection: HTTP2AnswerReceiver, HTTP2ClientObserver {
    /// Unique within the lane.
    let number: Int32
    private let http: HTTP2Client
    /// Let go when the connection is closed and all that it owed was told.
    private var client: APNsClient?
    /// Behind a pointer: it is looked at and changed for every push, and the run-time check for
    /// exclusive access would cost more than that.
    let allowance: UnsafeMutablePointer<ConnectionAllowance>

    init(number: Int32, http: HTTP2Client, client: APNsClient) {
        self.number = number
        self.http = http
        self.client = client
        allowance = .allocate(capacity: 1)
        allowance.initialize(to: ConnectionAllowance())
    }

    deinit { allowance.deallocate() }

    /// Starts to tell the client about changes, and tells what has changed already.
    func begin() {
        http.observer = self
        clientChanged(http)
    }

    /// Pushes it may take now.
    var free: Int { allowance.pointee.free(peerAllows: http.capacity) }

    /// Since when it has had no room for a push, with none in flight; nil where it is not so.
    func withoutRoom(now: MonotonicInstant) -> MonotonicInstant? {
        allowance.pointee.withoutRoom(peerAllows: http.capacity, now: now)
    }

    /// Sends; the outcome comes to the client under `tag`, never before this returns.
    ///
    /// The request is given up at `deadline`, so that its stream does not stay taken.
    func submit(
        _ request: HTTP2RequestTemplate, body: [UInt8], before deadline: MonotonicInstant,
        tag: UInt64
    ) {
        allowance.pointee.took()
        http.submit(request, body: body, before: deadline, to: self, tag: tag)
    }

    /// What was written, before TLS.
    var sentBytes: UInt64 { http.sentBytes }

    func close() { http.close() }

    func answered(_ tag: UInt64, _ outcome: HTTP2Outcome) {
        client?.ended(tag, outcome, on: self)
    }

    func accepted(_ tags: [UInt64]) { client?.accepted(tags, on: self) }

    func clientChanged(_ http: HTTP2Client) {
        guard let client else { return }
        switch http.state {
        case .open: client.noteTurn()
        case .draining(let goAway):
            client.pool.retire(self, because: goAway.map(Self.words) ?? "was drained")
        case .closed(let failure):
            let words =
                if case .goneAway(let goAway) = failure { Self.words(goAway) } else {
                    "ended: \(failure)"
                }
            client.pool.closed(self, because: words)
            self.client = nil
        }
    }

    /// Apple's reason for a GOAWAY, in the terms of its refusals.
    private static func words(_ goAway: HTTP2GoAway) -> String {
        let reason = APNsAnswer.printable(APNsAnswerBody(goAway.debugData).reason)
        return "was ended by GOAWAY: " + (reason ?? APNsAnswer.noReason)
    }
}
