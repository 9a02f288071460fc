/// One request's half of a connection, as its exchange sees it: a stream of HTTP/2, or HTTP/1.1
/// between a head and the end of its answer. On the loop. Every call is without effect once the
/// peer is gone.
protocol HTTPExchangeWire: AnyObject {
    /// The handler waits for a piece: `100 Continue` is due, and bytes that were left in the
    /// socket. May deliver at once.
    func wantsBody()
    /// The handler has taken so many bytes: the peer may send as many more.
    func took(_ byteCount: Int)
    /// A whole answer; nothing follows.
    func respond(_ status: Int, _ fields: HTTPFields, _ body: [UInt8], isShared: Bool)
    func begin(_ status: Int, _ fields: HTTPFields)
    func write(_ piece: [UInt8])
    func finish()
    /// Gives up the answer so that the peer cannot take what it has for all of it.
    func reset(code: UInt32)
    /// The handler has returned, after the answer's end.
    func handlerReturned()
    /// What the peer makes the server hold; nil once it is gone.
    var memory: HTTPConnectionMemory? { get }
    /// Bytes of the answer that the peer has not taken.
    var unreadBytes: Int { get }
}
