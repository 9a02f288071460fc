/// A connection as its owner, an HTTP session, sees it: bytes in, bytes out, in order. On the loop
/// only. Output is *pulled*: the owner announces output with `wantsOutput`. At the end of the turn
/// the stream calls `fillOutput` as long as the peer takes more. So output is written in full TLS
/// records, and the owner produces no more than the peer reads.
package protocol ByteStream: AnyObject {
    /// The owner has output: `fillOutput` will be called at the end of this turn, or once the peer
    /// takes more.
    func wantsOutput()

    /// Stops calls of `received` until `resumeReading`. Then TCP slows the peer down.
    func pauseReading()
    /// Goes on reading after `pauseReading()`.
    func resumeReading()

    /// Sends the owner's remaining output (until `fillOutput` adds nothing) and ends the sending
    /// side. Then reads and drops the peer's bytes for a moment, because a reset could destroy the
    /// last answer, and closes. All of this takes at most 5 seconds. Only `fillOutput` is called
    /// before the final `closed`.
    func close()

    /// Closes at once. `closed(nil)` is called at the end of the turn, with no other call before.
    func abort()

    /// Bytes from the owner that the kernel has not taken yet.
    var unsentBytes: Int { get }

    /// Bytes from the owner that the kernel has taken.
    var sentBytes: UInt64 { get }

    /// The name that ALPN chose; nil without TLS or ALPN.
    var applicationProtocol: String? { get }

    /// Address and port of the peer, as text.
    var peerDescription: String { get }
}

/// Owner of a `ByteStream`. All calls are on the loop. `closed` comes last, exactly once.
package protocol ByteStreamOwner: AnyObject {
    /// False to hold back all output, including bytes that the owner has already given. After it
    /// has become true, the owner calls `wantsOutput`. True by default.
    var mayWrite: Bool { get }

    /// Connection and handshake are complete. Not called for a connection that was already open
    /// when it got this owner (see `dial`).
    func opened()

    /// Bytes from the peer, valid during the call only. The owner may call any stream method.
    func received(_ bytes: UnsafeRawBufferPointer)

    /// Appends to `output` until it is full or nothing is left. The owner may call any method of
    /// the stream.
    func fillOutput(_ output: OutputBuffer)

    /// The peer sends no more (its half of the connection is closed); it may still read.
    func inputEnded()

    /// The stream is closed and makes no further calls. nil means that this side closed it.
    func closed(_ error: ConnectionError?)
}

extension ByteStreamOwner {
    package var mayWrite: Bool { true }
}
