/// One request of an HTTP/1.1 connection, from its head until both its answer and its handler are
/// done.
struct HTTP1ServerExchange {
    let request: HTTP1Request
    let exchange: HTTPExchange
    /// Set when the answer begins.
    var writer: HTTP1ResponseWriter?
    var isBodyComplete = false
    /// The body broke its framing: nothing behind it is read, and no answer may stream on.
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

    /// Whether what is left of the body is so little that skipping it beats a new connection.
    func canSkipBody(_ limits: HTTPServerLimits) -> Bool {
        if isBodyComplete { return true }
        guard !isContinueDue, !isBodyRefused, case .length(let count) = request.body else {
            return request.body == .none
        }
        return count <= limits.skippedBodyBytesMax
    }

    /// - Parameter length: the answer's bytes, or nil where it streams.
    func writer(status: Int, length: Int?, keepsAlive: Bool) -> HTTP1ResponseWriter {
        HTTP1ResponseWriter(
            status: status, method: request.method, version: request.version, length: length,
            keepsAlive: keepsAlive && request.keepsAlive)
    }
}
