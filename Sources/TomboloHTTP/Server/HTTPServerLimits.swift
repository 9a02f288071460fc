/// How much of the server one peer may take. A limit on everything, because whoever can connect can
/// try.
///
/// Those of a head and of chunks are the parser's (`HTTP1RequestParser`); HTTP/2 uses the same
/// numbers.
package struct HTTPServerLimits: Hashable, Sendable {
    /// Requests of one HTTP/2 connection that may be open at once, as announced in SETTINGS. A
    /// hundred is what RFC 9113 (6.5.2) recommends as the least; a batch client gains nothing
    /// beyond.
    package var streamsPerConnection: Int = 128

    /// The time for a head to arrive whole, for a frame of HTTP/2 other than DATA, and for the
    /// handshake of TLS: generous for a phone on a train, short for who sends a byte now and then.
    package var headTime: Duration = .seconds(5)

    /// Bytes of a body that must arrive in each second in which a handler waits for them.
    package var bodyBytesPerSecondMin: Int = 1024

    /// How long a handler waits for the first bytes of a body, before the rate counts.
    package var bodyGrace: Duration = .seconds(5)

    /// The longest pause that bytes sent fast before can earn.
    package var bodyPauseMax: Duration = .seconds(10)

    /// How long a connection without a request stays open.
    package var idleTime: Duration = .seconds(60)

    /// How long a peer may leave everything unread before its answer, and in HTTP/1.1 its
    /// connection, ends.
    package var writeStall: Duration = .seconds(30)

    /// Bytes of one answer that may be unread by the peer before `HTTPExchange.write` waits.
    package var unreadAnswerBytesMax: Int = 1024 * 1024

    /// Bytes that a peer must take of what it leaves unread, in each `writeStall`; a stream of
    /// HTTP/2 its share of them (`streamBytesTakenMin`). Half a KiB a second: a phone on a poor
    /// network does it, and a byte now and then does not hold an answer.
    package var bytesTakenMin: Int = 16 * 1024

    /// All streams that a connection may have, read in turn, come to `bytesTakenMin`.
    var streamBytesTakenMin: Int { max(1, bytesTakenMin / max(1, streamsPerConnection)) }

    /// Bytes of whole answers that one connection may leave unread. A request beyond is answered
    /// 429: a page of a log has at most 1 MiB or so, and few are asked for at once. Constant bodies
    /// do not count.
    package var unreadBytesPerConnection: Int = 8 * 1024 * 1024

    /// Bytes of answers in all that wait for the end of their requests' bodies, of
    /// `unreadBytesPerConnection` each. Beyond, answers begin while the body comes.
    package var keptBytesMax: Int = 64 * 1024 * 1024

    /// Bytes of unread answers and of waiting bodies in all. Beyond, the connection that holds most
    /// is cut: a connection that holds little goes on. Eight atomic batches of 16 MiB fit.
    package var bytesHeldMax: Int = 128 * 1024 * 1024

    /// What is left of a body that nobody reads and that is skipped to keep the connection; behind
    /// more, the connection ends after the answer.
    package var skippedBodyBytesMax: Int = 64 * 1024

    /// Bytes of a body that may wait for its handler: the flow-control window of a stream (RFC
    /// 9113, 5.2).
    package var streamWindow: Int = 256 * 1024

    /// Bytes of all bodies of one HTTP/2 connection that may wait for their handlers.
    package var connectionWindow: Int = 1024 * 1024

    /// Streams that a peer may abandon at once (rapid reset, CVE-2023-44487), and how many more in
    /// each second. A client that cancels in earnest stays far below; beyond, its connection ends.
    package var resetsBurst: Int = 200
    package var resetsPerSecond: Int = 50

    /// Connections from one address, in IPv6 from one network of 64 bits, which is what one client
    /// is given. Phones and command lines use one or two each. A proxy in front is one address: set
    /// it higher there (`limits.connections_per_address`).
    package var connectionsPerAddress: Int = 256

    /// Handshakes of TLS that one address may begin at once, and how many more in each second
    /// (`limits.handshakes_per_second`). One costs 0.37 ms of the loop: a hundred a second are a
    /// twenty-fifth of it. Clients keep their connections; a proxy in front is one address.
    package var handshakesBurst: Int = 256
    package var handshakesPerSecond: Int = 100

    /// Frames of HTTP/2 that carry nothing (neither a head nor part of a body) that a peer may send
    /// at once, and how many more in each second (CVE-2019-9512 and its kin). Each costs the loop
    /// 0.1 µs and more, and the peer 9 bytes. Requests, and what the peer has read, earn more.
    package var idleFramesBurst: Int = 2_000
    package var idleFramesPerSecond: Int = 1_000

    /// Connections in all: what 8 kB each make of 160 MB.
    package var connections: Int = 20_000

    package init() {}
}
