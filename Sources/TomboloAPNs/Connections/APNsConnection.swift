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
        stateChanged(of: http)
    }

    /// Pushes it may take now.
    var free: Int { allowance.free(peerAllows: http.capacity) }

    /// Sends; the outcome comes to the client under `tag`.
    func submit(_ request: HTTP2Request, tag: UInt64) {
        allowance.took()
        http.submit(request, to: self, tag: tag)
    }

    func close() { http.close() }

    func answered(_ tag: UInt64, _ outcome: HTTP2Outcome) {
        client.ended(tag, outcome, on: self)
    }

    func stateChanged(of http: HTTP2Client) {
        switch http.state {
        case .open:
            client.noteTurn()
        case .draining(let payload):
            let reason = APNsAnswer.printable(APNsAnswerBody(payload).reason)
            client.pool.retire(self, because: "was drained: \(reason ?? APNsAnswer.noReason)")
        case .closed(let failure):
            client.pool.closed(self, because: "closed: \(failure)")
        }
    }
}
