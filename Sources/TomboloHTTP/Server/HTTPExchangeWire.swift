/// Transport of one exchange: an HTTP/2 stream, or an HTTP/1.1 connection from a head to the end of
/// its answer. On the loop. No call has an effect once the peer is gone.
protocol HTTPExchangeWire: AnyObject {
    /// The handler waits for a piece: send `100 Continue` if it is due, and read from the socket.
    /// May deliver bytes to the exchange during the call.
    func wantsBody()
    /// The handler has taken this many bytes: the peer may send as many more.
    func took(_ byteCount: Int)
    /// Sends a whole answer. `isShared`: `body` does not count as memory.
    func respond(_ status: Int, _ fields: HTTPFields, _ body: [UInt8], isShared: Bool)
    func begin(_ status: Int, _ fields: HTTPFields)
    func write(_ piece: [UInt8])
    func finish()
    /// Aborts the answer so that the peer cannot mistake the received part for the whole.
    func reset(code: UInt32)
    /// Called after the handler has returned and the answer has ended.
    func handlerReturned()
    /// Memory held for this connection; nil once it is gone.
    var memory: HTTPConnectionMemory? { get }
    /// Bytes of the answer that the peer has not taken.
    var unreadBytes: Int { get }
}
