/// Limits on the resources that peers may use.
///
/// `HTTP1RequestParser` has the limits of heads and chunks; HTTP/2 uses the same numbers for heads.
package struct HTTPServerLimits: Hashable, Sendable {
    /// Maximum number of open requests on one HTTP/2 connection, announced in SETTINGS. RFC 9113
    /// (6.5.2) recommends at least 100; a client that sends batches gains nothing from more.
    package var streamsPerConnection: Int = 128

    /// Time for a complete head, for an HTTP/2 frame other than DATA, and for the TLS handshake.
    /// Long enough for a phone on a poor network. A peer that sends single bytes now and then
    /// exceeds it.
    package var headTime: Duration = .seconds(5)

    /// Bytes of a body that must arrive per second while a handler waits for them.
    package var bodyBytesPerSecondMin: Int = 1024

    /// How long a handler waits for the first bytes of a body before the minimum rate applies.
    package var bodyGrace: Duration = .seconds(5)

    /// If a body comes faster than the minimum rate, it may pause later, at most this long. Beside
    /// a streaming answer `writeStall` counts instead.
    package var bodyPauseMax: Duration = .seconds(10)

    /// How long a connection without a request stays open.
    package var idleTime: Duration = .seconds(60)

    /// If a peer reads nothing for this long, its answer (in HTTP/1.1 its connection) is cut. While
    /// the body still comes, a part of it counts as well as a part of the answer that is read.
    package var writeStall: Duration = .seconds(30)

    /// If the peer has not read this many bytes of one answer, `HTTPExchange.write` waits.
    package var unreadAnswerBytesMax: Int = 1024 * 1024

    /// Bytes that a peer must read in each `writeStall` if it has unread bytes; an HTTP/2 stream
    /// must take its share (`streamBytesTakenMin`). This is half a KiB per second: enough for a
    /// phone on a poor network. Single bytes now and then do not keep an answer open.
    package var bytesTakenMin: Int = 16 * 1024

    /// One stream's share of `bytesTakenMin`. The shares of all allowed streams sum up to it.
    var streamBytesTakenMin: Int { max(1, bytesTakenMin / max(1, streamsPerConnection)) }

    /// Maximum bytes of whole answers that one connection may leave unread. Further requests are
    /// answered 429. A page of a log has about 1 MiB at most, and a client asks for few at once.
    /// Bodies that are constants do not count.
    package var unreadBytesPerConnection: Int = 8 * 1024 * 1024

    /// Maximum bytes of all answers that wait for the end of their requests' bodies; each
    /// connection may hold at most `unreadBytesPerConnection` of them. If more would wait, answers
    /// begin before the body is complete.
    package var keptBytesMax: Int = 64 * 1024 * 1024

    /// Maximum bytes of all unread answers and waiting bodies. If there are more, the connection
    /// that holds the most is cut. Eight atomic batches of 16 MiB fit.
    package var bytesHeldMax: Int = 128 * 1024 * 1024

    /// If at most this much of a body is unread, it is skipped to keep the connection. If more is
    /// left, the connection ends after the answer.
    package var skippedBodyBytesMax: Int = 64 * 1024

    /// Maximum bytes of a body that wait for its handler: the flow-control window of a stream (RFC
    /// 9113, 5.2).
    package var streamWindow: Int = 256 * 1024

    /// Maximum bytes of all bodies of one HTTP/2 connection that wait for their handlers.
    package var connectionWindow: Int = 1024 * 1024

    /// Number of streams that a peer may abandon at once (rapid reset, CVE-2023-44487), and how
    /// many more per second. A client that cancels for a reason stays far below. A connection
    /// that exceeds this ends.
    package var resetsBurst: Int = 200
    package var resetsPerSecond: Int = 50

    /// Maximum number of connections from one IPv4 address or IPv6 network of 64 bits (one client's
    /// share). Phones and command lines use one or two each. All clients behind a proxy share its
    /// address: then set a higher value (`limits.connections_per_address`).
    package var connectionsPerAddress: Int = 256

    /// TLS handshakes that one address may begin at once, and how many more per second
    /// (`limits.handshakes_per_second`). A handshake costs the loop 0.37 ms, so 100 a second take 4
    /// % of its time. All clients behind a proxy share its address.
    package var handshakesBurst: Int = 256
    package var handshakesPerSecond: Int = 100

    /// Number of HTTP/2 frames without content (neither a head nor part of a body) that a peer may
    /// send at once, and how many more per second (CVE-2019-9512 and similar attacks). A frame
    /// costs the loop at least 0.1 µs, and the peer 9 bytes. Requests, and bytes that the peer
    /// reads, allow more frames.
    package var idleFramesBurst: Int = 2_000
    package var idleFramesPerSecond: Int = 1_000

    /// Maximum number of connections. At 8 kB each they take 160 MB.
    package var connections: Int = 20_000

    package init() {}
}
