/// Limits and timeouts of a client connection.
package struct HTTP2ClientLimits: Sendable {
    /// Most open requests, whatever the peer allows. APNs allows 1,000; more would waste memory.
    package var streamsMax = 1_000
    /// Most open requests before the peer's SETTINGS (RFC 9113, 6.5.2, recommends 100 or more).
    package var streamsBeforeSettings = 100
    /// Most bytes of an answer's body. APNs answers with less than 1 KiB, but `perform` is used for
    /// the relay's own API too.
    package var answerBodyBytesMax = 65_536
    /// Most bytes of an answer's fields: names, values and 32 for each field. Announced as
    /// SETTINGS_MAX_HEADER_LIST_SIZE.
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
    /// Flow-control window of a streamed answer: the most that is buffered while nobody reads.
    package var streamWindowBytes = 1 << 18
    /// Bytes that the writer of a streamed request may be ahead of the peer.
    package var streamWriteBytesMax = 1 << 18

    package init() {}
}
