/// Limits on the resources that peers may use.
///
/// `HTTP1RequestParser` has the limits of heads and chunks; HTTP/2 uses the same numbers.
package struct HTTPServerLimits: Hashable, Sendable {
    /// Requests of one HTTP/2 connection that may be open at once, as announced in SETTINGS. RFC
    /// 9113 (6.5.2) recommends at least 100; a batch client gains nothing from more.
    package var streamsPerConnection: Int = 128

    /// Time for a complete head, for an HTTP/2 frame other than DATA, and for the TLS handshake.
    /// Long enough for a phone on a train, short for a peer that sends a byte now and then.
    package var headTime: Duration = .seconds(5)

    /// Bytes of a body that must arrive per second while a handler waits for them.
    package var bodyBytesPerSecondMin: Int = 1024

    /// How long a handler waits for the first bytes of a body, before the rate counts.
    package var bodyGrace: Duration = .seconds(5)

    /// The longest pause that bytes sent faster before can earn.
    package var bodyPauseMax: Duration = .seconds(10)

    /// How long a connection without a request stays open.
    package var idleTime: Duration = .seconds(60)

    /// How long a peer may read nothing before its answer, or in HTTP/1.1 its connection, is ended.
    package var writeStall: Duration = .seconds(30)

    /// Bytes of one answer that may be unread by the peer before `HTTPExchange.write` waits.
    package var unreadAnswerBytesMax: Int = 1024 * 1024

    /// Bytes that a peer must read in each `writeStall` if it has unread bytes; an HTTP/2 stream
    /// must take its share (`streamBytesTakenMin`). Half a KiB a second: a phone on a poor network
    /// manages it, but a byte now and then does not keep an answer open.
    package var bytesTakenMin: Int = 16 * 1024

    /// Share of one stream: all allowed streams together come to `bytesTakenMin`.
    var streamBytesTakenMin: Int { max(1, bytesTakenMin / max(1, streamsPerConnection)) }

    /// Bytes of whole answers that one connection may leave unread. A request beyond this is
    /// answered 429. A page of a log has about 1 MiB at most, and a client asks for few at once.
    /// Constant bodies do not count.
    package var unreadBytesPerConnection: Int = 8 * 1024 * 1024

    /// Bytes of all answers that wait for the end of their requests' bodies; each connection may
    /// hold `unreadBytesPerConnection` of them. Beyond this, answers begin before the body is
    /// complete.
    package var keptBytesMax: Int = 64 * 1024 * 1024

    /// Bytes of all unread answers and waiting bodies. Beyond this, the connection that holds most
    /// is cut. Eight atomic batches of 16 MiB fit.
    package var bytesHeldMax: Int = 128 * 1024 * 1024

    /// Longest rest of an unread body that is skipped to keep the connection. If more is left, the
    /// connection ends after the answer.
    package var skippedBodyBytesMax: Int = 64 * 1024

    /// Bytes of a body that may wait for its handler: the flow-control window of a stream (RFC
    /// 9113, 5.2).
    package var streamWindow: Int = 256 * 1024

    /// Bytes of all bodies of one HTTP/2 connection that may wait for their handlers.
    package var connectionWindow: Int = 1024 * 1024

    /// Streams that a peer may abandon at once (rapid reset, CVE-2023-44487), and how many more per
    /// second. A client that cancels for real reasons stays far below. Beyond this, its connection
    /// ends.
    package var resetsBurst: Int = 200
    package var resetsPerSecond: Int = 50

    /// Connections from one address, or from one IPv6 network of 64 bits, which is what one client
    /// gets. Phones and command lines use one or two each. Behind a proxy, which is one address,
    /// set a higher value (`limits.connections_per_address`).
    package var connectionsPerAddress: Int = 256

    /// TLS handshakes that one address may begin at once, and how many more per second
    /// (`limits.handshakes_per_second`). One costs 0.37 ms of the loop, so 100 a second take 4 % of
    /// it. Clients keep their connections; a proxy counts as one address.
    package var handshakesBurst: Int = 256
    package var handshakesPerSecond: Int = 100

    /// Frames of HTTP/2 that carry nothing (neither a head nor part of a body) that a peer may send
    /// at once, and how many more per second (CVE-2019-9512 and similar attacks). Each costs the
    /// loop at least 0.1 µs, and the peer 9 bytes. Requests, and bytes that the peer reads, earn
    /// more.
    package var idleFramesBurst: Int = 2_000
    package var idleFramesPerSecond: Int = 1_000

    /// Total connections: 160 MB at 8 kB each.
    package var connections: Int = 20_000

    package init() {}
}
