/// Bytes that all peers of a server make it hold: answers that they do not read, and bodies that
/// wait for their handlers. On the loop only.
package final class HTTPServerMemory {
    private let bytesMax: Int
    /// What is held now.
    package private(set) var bytes = 0
    /// Called when more is held than allowed. It must give some of it back.
    var exceeded: (() -> Void)?

    /// Nothing is held at first.
    package init(bytesMax: Int) { self.bytesMax = bytesMax }

    var isExceeded: Bool { bytes > bytesMax }

    fileprivate func hold(_ count: Int) {
        bytes += count
        if isExceeded { exceeded?() }
    }

    fileprivate func release(_ count: Int) { bytes -= count }

    /// Of these, answers that wait for the end of their request's body.
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

    /// The peer has taken bytes. Those of a constant body were not counted: never below nothing.
    func releaseAnswer(_ count: Int) {
        let counted = min(count, unreadBytes)
        unreadBytes -= counted
        if !isClosed { all.release(counted) }
    }

    /// A part of an answer waits for the end of its request's body; it is unread. Answers false
    /// where all connections would keep more than so much.
    func keep(_ count: Int, atMost most: Int) -> Bool {
        guard !isClosed, all.keptBytes + count <= most else { return false }
        all.keptBytes += count
        keptBytes += count
        holdAnswer(count)
        return true
    }

    /// It waits no more.
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

    /// The connection ends: what it held is not counted any more.
    func close() {
        guard !isClosed else { return }
        all.release(unreadBytes + bodyBytes)
        all.keptBytes -= keptBytes
        isClosed = true
    }
}
