/// Counts connections ended or refused because a peer exceeded a limit. On the loop only.
package final class HTTPServerCuts {
    /// The limit that a peer exceeded.
    package enum Reason: String, CaseIterable, Sendable {
        /// The server held more than `bytesHeldMax`, and this connection held the most.
        case memory
        /// Too many connections from one address, or in total.
        case connections
        /// Too many TLS handshakes from one address.
        case handshakes
        /// The peer left its answers unread, or its handshake unfinished.
        case stalled
        /// Too many frames without content.
        case frames
        /// Too many abandoned streams.
        case resets
    }

    private var counts: [Reason: Int64] = [:]

    init() {}

    func count(_ reason: Reason) { counts[reason, default: 0] += 1 }

    /// Number of cuts for this reason since the start.
    package func count(of reason: Reason) -> Int64 { counts[reason] ?? 0 }
}

/// Counters of a server, for metrics.
package struct HTTPServerView: Sendable {
    /// Bytes of unread answers and of bodies that wait for a handler.
    package let bytesHeld: Int64
    /// In the order of `HTTPServerCuts.Reason`.
    package let cuts: [(reason: HTTPServerCuts.Reason, count: Int64)]

    /// Takes the current values.
    package init(_ memory: HTTPServerMemory, _ cuts: HTTPServerCuts) {
        bytesHeld = Int64(memory.bytes)
        self.cuts = HTTPServerCuts.Reason.allCases.map { ($0, cuts.count(of: $0)) }
    }
}
