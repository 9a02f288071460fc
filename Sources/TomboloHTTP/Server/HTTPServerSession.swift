import TomboloLoop

/// The server's side of one connection in one HTTP version: bytes in, bytes out. On the loop.
///
/// The owner reads while `wantsBytes` is true. It writes the output of `produce` after the session
/// has called `sessionHasOutput`.
protocol HTTPServerSession: AnyObject {
    /// Bytes from the peer, in order; never after `receivedEnd`, `lost` or `isFinished`.
    func receive(_ bytes: UnsafeRawBufferPointer)

    /// The peer has closed its sending side.
    func receivedEnd()

    /// Appends to `output` until it is full or there is nothing left.
    func produce(into output: OutputBuffer)

    /// The owner has written something.
    func outputProgressed()

    /// True if the owner should read more bytes. The session calls `sessionWantsBytes` when it may
    /// be true again.
    var wantsBytes: Bool { get }

    /// True if the connection can close once the produced output is written.
    var isFinished: Bool { get }

    /// Takes no more requests and finishes accepted ones; then `isFinished` is true.
    func drain()

    /// The connection is lost. Notifies every exchange.
    func lost()

    /// When to call `deadlinePassed` if nothing happens before; nil if there is no deadline.
    var deadline: MonotonicInstant? { get }

    func deadlinePassed()

    /// Sets how many requests may be open at once.
    func setMaxConcurrentStreams(_ count: Int)

    /// Tells the peer that requests above `lastStream` (nil: above the newest one seen) are not
    /// processed, with a reason. Drops those requests.
    func goAway(code: UInt32, reason: [UInt8], lastStream: Int32?)
}

/// What a session needs from its connection.
protocol HTTPServerSessionOwner: AnyObject {
    var loop: any Loop { get }
    var limits: HTTPServerLimits { get }
    /// Counts the memory held for this connection.
    var memory: HTTPConnectionMemory { get }
    /// Counts the reasons why connections were cut.
    var cuts: HTTPServerCuts { get }
    /// Date for an answer that is made now; nil if there is no clock.
    var date: String? { get }
    /// Produced bytes that are not yet written.
    var bytesUnwritten: Int { get }

    /// A head is complete. Returns its exchange, which is passed to the handler.
    func opened(_ request: HTTPServerRequest, over wire: any HTTPExchangeWire) -> HTTPExchange

    /// There is output: the owner must call `produce` before the turn ends.
    func sessionHasOutput()

    /// `wantsBytes` may be true again.
    func sessionWantsBytes()
}

extension HTTPServerSessionOwner {
    /// Returns the fields of an answer with its date added (RFC 9110, 6.6.1).
    func dated(_ fields: HTTPFields) -> HTTPFields {
        guard let date else { return fields }
        var fields = fields
        fields.append("date", date)
        return fields
    }
}

/// The session's part of a request's head; the connection adds the rest.
struct HTTPServerRequest {
    var method: String
    var target: String
    var authority: String?
    var fields: HTTPFields
    var version: HTTPVersion
    var bodyLength: Int?
}
