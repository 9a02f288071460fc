import TomboloHTTP

/// One connection of a lane: the HTTP/2 client, and what it may carry.
///
/// On the loop only, as the client it belongs to.
final class APNsConnection: HTTP2AnswerReceiver, HTTP2ClientObserver {
    /// Unique within the lane.
    let number: Int32
    private let http: HTTP2Client
    private unowned let client: APNsClient
    var allowance = ConnectionAllowance()

    init(number: Int32, http: HTTP2Client, client: APNsClient) {
        self.number = number
        self.http = http
        self.client = client
    }

    /// Starts to tell the client about changes, and tells what has changed already.
    func begin() {
        http.observer = self
        clientChanged(http)
    }

    /// Pushes it may take now.
    var free: Int { allowance.free(peerAllows: http.capacity) }

    /// Sends; the outcome comes to the client under `tag`, never before this returns.
    ///
    /// The request is given up after `timeout`, so that its stream does not stay taken.
    func submit(_ request: borrowing HTTP2Request, timeout: Duration, tag: UInt64) {
        allowance.took()
        http.submit(request, timeout: timeout, to: self, tag: tag)
    }

    /// What was written, before TLS.
    var sentBytes: UInt64 { http.sentBytes }

    func close() { http.close() }

    func answered(_ tag: UInt64, _ outcome: HTTP2Outcome) {
        client.ended(tag, outcome, on: self)
    }

    func clientChanged(_ http: HTTP2Client) {
        switch http.state {
        case .open: client.noteTurn()
        case .draining(let goAway):
            client.pool.retire(self, because: goAway.map(Self.words) ?? "was drained")
        case .closed(.goneAway(let goAway)): client.pool.closed(self, because: Self.words(goAway))
        case .closed(let failure): client.pool.closed(self, because: "ended: \(failure)")
        }
    }

    /// Apple's reason for a GOAWAY, in the terms of its refusals.
    private static func words(_ goAway: HTTP2GoAway) -> String {
        let reason = APNsAnswer.printable(APNsAnswerBody(goAway.debugData).reason)
        return "was ended by GOAWAY: " + (reason ?? APNsAnswer.noReason)
    }
}
