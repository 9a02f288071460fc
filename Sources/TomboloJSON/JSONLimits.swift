/// Limits for JSON from outside. The tape usually takes about twice the memory of the text. In the
/// worst case (`[0,0,0…]`) it takes eight times as much, and twice that while it grows. These
/// limits do not bound the memory for many texts at the same time.
package struct JSONLimits: Hashable, Sendable {
    /// Maximum of `bytesMax`, because offsets and counts on the tape have 28 bits.
    package static let bytesCeiling = (1 << 28) - 1

    /// Maximum of `depthMax`, because a merge calls itself for each level.
    package static let depthCeiling = 1_000

    /// Maximum depth of received JSON, with the object around it: deeper than any known content
    /// state, and not too deep for other decoders.
    package static let receivedDepthMax = 32

    /// Maximum number of levels that the log, a list or a push adds around received JSON. So
    /// accepted JSON can always be stored, sent and read again.
    package static let envelopeDepthMax = 8

    /// Maximum depth of a content state with its clip's frame, because the request is one level
    /// around it.
    package static let stateDepthMax = receivedDepthMax - 1

    /// The limits for requests.
    package static let received = JSONLimits(depthMax: receivedDepthMax, numbersFit: true)

    /// Maximum depth of objects and arrays: a number alone has depth 0, `[]` has depth 1.
    package let depthMax: Int

    /// True to refuse numbers that a double cannot hold, because they would become infinite or 0.
    /// JSON allows them, but apps cannot decode them.
    package let numbersFit: Bool

    /// Maximum number of bytes, with white space around the value.
    package let bytesMax: Int

    /// Makes limits, at most as high as the ceilings. A negative value counts as 0.
    ///
    /// - Parameters:
    ///   - depthMax: by default enough for received JSON in its envelope.
    ///   - bytesMax: by default 64 MiB, enough for a large file of timelines; network input gets
    /// much less.
    ///   - numbersFit: true to refuse numbers that a double cannot hold.
    package init(
        depthMax: Int = receivedDepthMax + envelopeDepthMax, bytesMax: Int = 64 * 1024 * 1024,
        numbersFit: Bool = false
    ) {
        self.numbersFit = numbersFit
        self.depthMax = max(0, min(depthMax, Self.depthCeiling))
        self.bytesMax = max(0, min(bytesMax, Self.bytesCeiling))
    }
}
