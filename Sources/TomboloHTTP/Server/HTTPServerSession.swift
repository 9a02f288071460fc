import TomboloLoop

/// The server's end of one connection in one version of HTTP: bytes in, bytes out; no socket. On
/// the loop.
///
/// The owner reads while `wantsBytes`, and writes what `produce` gives whenever the session has
/// told it that there is output.
protocol HTTPServerSession: AnyObject {
    /// Bytes from the peer, in order; never after `receivedEnd`, `lost` or `isFinished`.
    func receive(_ bytes: UnsafeRawBufferPointer)

    /// The peer closed its side.
    func receivedEnd()

    /// Appends to `output` until it is full or there is nothing left.
    func produce(into output: OutputBuffer)

    /// The owner has written something.
    func outputProgressed()

    /// Whether more bytes may come now. When it turns true again, the owner is told.
    var wantsBytes: Bool { get }

    /// Nothing more will be said or heard once what was produced is written.
    var isFinished: Bool { get }

    /// No more requests; those that were taken are finished, then `isFinished`.
    func drain()

    /// The connection is gone: every exchange is told.
    func lost()

    /// When `deadlinePassed` is due, unless something happens before; nil if nothing is waited for.
    var deadline: MonotonicInstant? { get }

    /// The peer has let a deadline pass.
    func deadlinePassed()

    /// How many requests may be open at once, from now on.
    func setMaxConcurrentStreams(_ count: Int)

    /// Tells the peer that requests above `lastStream` were not and will not be processed (nil:
    /// above the newest one seen), with the reason's bytes; those above are dropped.
    func goAway(code: UInt32, reason: [UInt8], lastStream: Int32?)
}

/// What a session needs of its connection. On the loop.
protocol HTTPServerSessionOwner: AnyObject {
    var loop: any Loop { get }
    var limits: HTTPServerLimits { get }
    /// What the peer makes the server hold.
    var memory: HTTPConnectionMemory { get }
    /// Where it is counted why connections were cut.
    var cuts: HTTPServerCuts { get }
    /// The date of an answer that is made now; nil: there is no clock.
    var date: String? { get }
    /// Bytes that were produced and are not written.
    var bytesUnwritten: Int { get }

    /// A head is complete. The answer's exchange is on its way to the handler.
    func opened(_ request: HTTPServerRequest, over wire: any HTTPExchangeWire) -> HTTPExchange

    /// There is output: `produce` before the turn ends.
    func sessionHasOutput()

    /// `wantsBytes` may be true again.
    func sessionWantsBytes()
}

extension HTTPServerSessionOwner {
    /// The fields of an answer, and its date (RFC 9110, 6.6.1).
    func dated(_ fields: HTTPFields) -> HTTPFields {
        guard let date else { return fields }
        var fields = fields
        fields.append("date", date)
        return fields
    }
}

/// What a session knows of a request; the rest of its head is the connection's.
struct HTTPServerRequest {
    var method: String
    var target: String
    var authority: String?
    var fields: HTTPFields
    var version: HTTPVersion
    var bodyLength: Int?
}
