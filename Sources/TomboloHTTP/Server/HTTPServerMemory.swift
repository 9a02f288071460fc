/// Counts the bytes that a server holds for all peers: unread answers, and bodies that wait for
/// their handlers. On the loop only.
package final class HTTPServerMemory {
    private let bytesMax: Int
    /// Bytes held now.
    package private(set) var bytes = 0
    /// Called when more than `bytesMax` is held. It must cut connections to release bytes.
    var exceeded: (() -> Void)?

    /// Starts with nothing held.
    package init(bytesMax: Int) { self.bytesMax = bytesMax }

    var isExceeded: Bool { bytes > bytesMax }

    fileprivate func hold(_ count: Int) {
        bytes += count
        if isExceeded { exceeded?() }
    }

    fileprivate func release(_ count: Int) { bytes -= count }

    /// Bytes of `bytes` that answers hold while they wait for the end of their request's body.
    fileprivate var keptBytes = 0
}

/// The share of one connection in `HTTPServerMemory`. On the loop only.
package final class HTTPConnectionMemory {
    private let all: HTTPServerMemory
    /// Bytes of answers that the peer has not taken. Constant bodies, which all connections share,
    /// are not counted.
    private(set) var unreadBytes = 0
    private(set) var bodyBytes = 0
    private var keptBytes = 0
    private var isClosed = false

    init(_ all: HTTPServerMemory) { self.all = all }

    var bytes: Int { isClosed ? 0 : unreadBytes + bodyBytes }

    func holdAnswer(_ count: Int) {
        unreadBytes += count
        if !isClosed { all.hold(count) }
    }

    /// The peer has taken `count` bytes. Bytes of constant bodies were not counted before, so the
    /// result never falls below 0.
    func releaseAnswer(_ count: Int) {
        let counted = min(count, unreadBytes)
        unreadBytes -= counted
        if !isClosed { all.release(counted) }
    }

    /// A part of an answer waits for the end of its request's body; it counts as unread. Returns
    /// false if all connections together would keep more than `most`.
    func keep(_ count: Int, atMost most: Int) -> Bool {
        guard !isClosed, all.keptBytes + count <= most else { return false }
        all.keptBytes += count
        keptBytes += count
        holdAnswer(count)
        return true
    }

    /// A part that `keep` counted no longer waits.
    func releaseKept(_ count: Int) {
        let counted = min(count, keptBytes)
        keptBytes -= counted
        if !isClosed { all.keptBytes -= counted }
        releaseAnswer(counted)
    }

    func holdBody(_ count: Int) {
        bodyBytes += count
        if !isClosed { all.hold(count) }
    }

    func releaseBody(_ count: Int) {
        bodyBytes -= count
        if !isClosed { all.release(count) }
    }

    /// The connection ends: its bytes are no longer counted.
    func close() {
        guard !isClosed else { return }
        all.release(unreadBytes + bodyBytes)
        all.keptBytes -= keptBytes
        isClosed = true
    }
}
