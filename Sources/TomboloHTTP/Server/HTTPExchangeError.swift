/// Why an exchange cannot go on.
package enum HTTPExchangeError: Error, Hashable, Sendable {
    /// The peer reset the request, or its connection ended.
    case peerGone
    /// The body is longer than `body(atMost:)` allowed. Without an answer of the handler's: 413.
    case bodyTooLarge
    /// The body came slower than the limits allow. Without an answer of the handler's: 408.
    case bodyTooSlow
    /// The body broke the rules of its framing. Without an answer of the handler's: 400.
    case bodyMalformed(HTTP1Refusal)
    /// The peer left the answer unread for `writeStall`; the answer was abandoned.
    case peerStalled
    /// The task was cancelled: the server ends.
    case cancelled

    /// The answer to a request whose handler gave none.
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
