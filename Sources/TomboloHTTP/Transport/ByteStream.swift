/// A connection as its owner, an HTTP session, sees it: bytes in, bytes out, in order. On the loop
/// only.
///
/// Output is *pulled*: the owner says that it has something, and is asked for it at the end of the
/// turn, as long as the peer takes it. So all of a turn goes out in writes of full TLS records, and
/// no more is produced than the peer reads.
package protocol ByteStream: AnyObject {
    /// The owner has output: `fillOutput` will be called at the end of this turn, or once the peer
    /// takes more.
    func wantsOutput()

    /// No `received` until `resumeReading`: the peer feels it through TCP.
    func pauseReading()
    /// Goes on reading after `pauseReading()`.
    func resumeReading()

    /// Sends what the owner still has (until `fillOutput` adds nothing), tells the peer the end,
    /// takes in and drops what the peer still sends for a moment (so that a reset does not destroy
    /// the last answer), and closes. All of that has 5 seconds. `closed` comes at the end, nothing
    /// else but `fillOutput` before it.
    func close()

    /// Closes at once. `closed(nil)` comes at the end of the turn, nothing before it.
    func abort()

    /// Bytes the owner handed over that the kernel has not taken yet.
    var unsentBytes: Int { get }

    /// Bytes the owner handed over that the kernel has taken.
    var sentBytes: UInt64 { get }

    /// What ALPN chose; nil without TLS, or where the peer did not ask.
    var applicationProtocol: String? { get }

    /// The peer in words: address and port.
    var peerDescription: String { get }
}

/// Whom a `ByteStream` belongs to. All calls on the loop; `closed` is the last one and comes
/// exactly once.
package protocol ByteStreamOwner: AnyObject {
    /// Connection and handshake are done. Not called for a connection that was handed over open
    /// (`dial`).
    func opened()

    /// Valid during the call only. May call anything of the stream.
    func received(_ bytes: UnsafeRawBufferPointer)

    /// Appends to `output` until it is full or nothing is left. May call anything of the stream.
    func fillOutput(_ output: OutputBuffer)

    /// The peer sends no more (its half of the connection is closed); it may still read.
    func inputEnded()

    /// No call comes after this one. nil: this side closed it.
    func closed(_ error: ConnectionError?)
}
