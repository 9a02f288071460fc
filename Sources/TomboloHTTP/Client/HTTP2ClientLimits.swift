/// Limits and timeouts of a client connection.
package struct HTTP2ClientLimits: Sendable {
    /// Maximum number of open requests, even if the peer allows more. APNs allows 1,000; a higher
    /// limit would waste memory.
    package var streamsMax = 1_000
    /// Maximum number of open requests until the peer's SETTINGS arrive (RFC 9113, 6.5.2,
    /// recommends 100 or more).
    package var streamsBeforeSettings = 100
    /// Maximum size of an answer's body in bytes. APNs answers with less than 1 KiB, but `perform`
    /// is used for the relay's own API too.
    package var answerBodyBytesMax = 65_536
    /// Maximum size of an answer's fields in bytes: names, values and 32 for each field. Announced
    /// as SETTINGS_MAX_HEADER_LIST_SIZE.
    package var answerFieldsBytesMax = 16_384
    /// Time to wait for an answer if a request sets no timeout of its own.
    package var requestTimeout: Duration = .seconds(30)
    /// Silence after which a PING is sent while requests are open.
    package var pingAfterSilence: Duration = .seconds(5)
    /// Silence after which an idle connection sends a PING. Shorter than middlebox timeouts.
    package var pingWhenIdle: Duration = .seconds(60)
    /// Time to wait for the answer to a PING; then the connection counts as lost.
    package var pingTimeout: Duration = .seconds(5)
    /// Interval at which deadlines are checked. A request may end this much late.
    package var tick: Duration = .milliseconds(100)
    /// Flow-control window of each stream: the peer may send this many unread bytes.
    package var streamWindowBytes = 1 << 18
    /// A streamed request's writer waits while this many bytes or more are buffered.
    package var streamWriteBytesMax = 1 << 18

    package init() {}
}
