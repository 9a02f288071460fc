/// What a client takes from its peer, and how long it waits.
package struct HTTP2ClientLimits: Sendable {
    /// Open requests at most, whatever the peer allows: APNs says 1,000; memory of more is without
    /// use.
    package var streamsMax = 1_000
    /// Until the peer's SETTINGS (RFC 9113, 6.5.2, recommends at least 100).
    package var streamsBeforeSettings = 100
    /// APNs answers with less than 1 KiB; `perform` is used for the relay's own API too.
    package var answerBodyBytesMax = 65_536
    /// Names, values and 32 for each field; announced as SETTINGS_MAX_HEADER_LIST_SIZE.
    package var answerFieldsBytesMax = 16_384
    /// Waiting for an answer, where a request says nothing else.
    package var requestTimeout: Duration = .seconds(30)
    /// Silence after which a PING is sent while requests are open.
    package var pingAfterSilence: Duration = .seconds(5)
    /// Silence after which a PING is sent while none is; below the timeouts of common middle boxes.
    package var pingWhenIdle: Duration = .seconds(60)
    /// For the PING's answer: then the connection counts as lost.
    package var pingTimeout: Duration = .seconds(5)
    /// How often deadlines are looked at while requests are open: they end up to this much late.
    package var tick: Duration = .milliseconds(100)
    /// A streamed answer's window, and what is buffered of it while nobody reads.
    package var streamWindowBytes = 1 << 18
    /// What a streamed request's writer may be ahead of the peer.
    package var streamWriteBytesMax = 1 << 18

    package init() {}
}
