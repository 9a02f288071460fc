/// State of one HTTP/1.1 request until its answer is complete and its handler has returned.
struct HTTP1ServerExchange {
    let request: HTTP1Request
    let exchange: HTTPExchange
    /// Set when the answer begins.
    var writer: HTTP1ResponseWriter?
    var isBodyComplete = false
    /// The body's framing was malformed: no later bytes are read, and a streamed answer is cut.
    var isBodyRefused = false
    /// The peer waits for `100 Continue`.
    var isContinueDue: Bool
    var isHandlerDone = false
    var isAnswerDone = false

    init(request: HTTP1Request, exchange: HTTPExchange) {
        self.request = request
        self.exchange = exchange
        isContinueDue = request.expectsContinue
    }

    /// True if the body is complete, or if its rest is so short that skipping it is cheaper than a
    /// new connection.
    func canSkipBody(_ limits: HTTPServerLimits) -> Bool {
        if isBodyComplete { return true }
        guard !isContinueDue, !isBodyRefused, case .length(let count) = request.body else {
            return request.body == .none
        }
        return count <= limits.skippedBodyBytesMax
    }

    /// - Parameter length: number of bytes of the answer's body; nil if it streams.
    func writer(status: Int, length: Int?, keepsAlive: Bool) -> HTTP1ResponseWriter {
        HTTP1ResponseWriter(
            status: status, method: request.method, version: request.version, length: length,
            keepsAlive: keepsAlive && request.keepsAlive)
    }
}
