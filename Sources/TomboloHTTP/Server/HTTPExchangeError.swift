/// Why an exchange cannot go on.
package enum HTTPExchangeError: Error, Hashable, Sendable {
    /// The peer reset the request, or its connection ended.
    case peerGone
    /// The body is longer than `body(atMost:)` allowed. If the handler gives no answer: 413.
    case bodyTooLarge
    /// The body came slower than the limits allow. If the handler gives no answer: 408.
    case bodyTooSlow
    /// The body's framing is malformed. If the handler gives no answer: 400.
    case bodyMalformed(HTTP1Refusal)
    /// The peer left the answer unread for `writeStall`; the answer was abandoned.
    case peerStalled
    /// The task was cancelled because the server shuts down.
    case cancelled

    /// The server's answer if the handler gave none.
    var problem: HTTPServerProblem {
        switch self {
        case .bodyTooLarge: .bodyTooLarge
        case .bodyTooSlow: .bodyTooSlow
        case .bodyMalformed(let refusal): HTTPServerProblem(refusal)
        case .cancelled: .shuttingDown
        case .peerGone, .peerStalled: .noAnswer
        }
    }
}
