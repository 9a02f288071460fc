/// Connections that a server has ended, or has not taken, because a peer went beyond a limit. On
/// the loop only.
package final class HTTPServerCuts {
    /// What a peer had too much of.
    package enum Reason: String, CaseIterable, Sendable {
        /// It held most of `bytesHeldMax`.
        case memory
        /// Connections from one address, or in all.
        case connections
        /// Handshakes of TLS from one address.
        case handshakes
        /// It left its answers unread, or its handshake unfinished.
        case stalled
        /// Frames that carry nothing.
        case frames
        /// Streams that it abandoned.
        case resets
    }

    private var counts: [Reason: Int64] = [:]

    init() {}

    func count(_ reason: Reason) { counts[reason, default: 0] += 1 }

    /// How many there were since the start.
    package func count(of reason: Reason) -> Int64 { counts[reason] ?? 0 }
}

/// What a server counts, for its metrics.
package struct HTTPServerView: Sendable {
    /// Bytes of unread answers and waiting bodies.
    package let bytesHeld: Int64
    /// In the order of `HTTPServerCuts.Reason`.
    package let cuts: [(reason: HTTPServerCuts.Reason, count: Int64)]

    /// As both are now.
    package init(_ memory: HTTPServerMemory, _ cuts: HTTPServerCuts) {
        bytesHeld = Int64(memory.bytes)
        self.cuts = HTTPServerCuts.Reason.allCases.map { ($0, cuts.count(of: $0)) }
    }
}
