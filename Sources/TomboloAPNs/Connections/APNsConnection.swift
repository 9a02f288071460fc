import TomboloHTTP
import TomboloLoop

/// One connection of an upstream: the HTTP/2 client, and the allowance that limits its pushes.
///
/// On the loop only, like its client.
final class APNsConnection: HTTP2AnswerReceiver, HTTP2ClientObserver {
    /// Unique within the upstream.
    let number: Int32
    private let http: HTTP2Client
    /// The owner. It becomes nil when the connection is closed and all outcomes were reported.
    private var client: APNsClient?
    /// Behind a pointer: it is used for every push, and the run-time check for exclusive access
    /// would cost more than the accesses.
    let allowance: UnsafeMutablePointer<ConnectionAllowance>

    init(number: Int32, http: HTTP2Client, client: APNsClient) {
        self.number = number
        self.http = http
        self.client = client
        allowance = .allocate(capacity: 1)
        allowance.initialize(to: ConnectionAllowance())
    }

    deinit { allowance.deallocate() }

    /// Starts to notify the client of changes. Reports those that have already happened at once.
    func begin() {
        http.observer = self
        clientChanged(http)
    }

    /// Number of pushes that the connection may take now.
    var free: Int { allowance.pointee.free(peerAllows: http.capacity) }

    /// Since when the connection has had no room for a push although none is in flight; nil if it
    /// has room.
    func withoutRoom(now: MonotonicInstant) -> MonotonicInstant? {
        allowance.pointee.withoutRoom(peerAllows: http.capacity, now: now)
    }

    /// Sends a push. The client gets the outcome under `tag`, but never during this call.
    ///
    /// The request is given up at `deadline`, to free its stream.
    func submit(
        _ request: HTTP2RequestTemplate, body: [UInt8], before deadline: MonotonicInstant,
        tag: UInt64
    ) {
        allowance.pointee.took()
        http.submit(request, body: body, before: deadline, to: self, tag: tag)
    }

    /// Bytes written so far, counted before encryption.
    var sentBytes: UInt64 { http.sentBytes }

    /// Writes what `APNsClient.mayPush` held back.
    func resumeWriting() { http.resumeWriting() }

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

    /// Text about a GOAWAY with Apple's reason.
    private static func words(_ goAway: HTTP2GoAway) -> String {
        let reason = APNsAnswer.printable(APNsAnswerBody(goAway.debugData).reason)
        return "was ended by GOAWAY: " + (reason ?? APNsAnswer.noReason)
    }
}
