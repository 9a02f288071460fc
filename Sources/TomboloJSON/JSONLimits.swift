/// Limits on JSON from outside.
///
/// The tape takes about twice the text's bytes for events, in the worst case (`[0,0,0…]`) eight
/// times, and twice that while it grows. These limits do not protect against many such texts at
/// once.
package struct JSONLimits: Hashable, Sendable {
    /// Most bytes of a text for any `bytesMax`: offsets and counts on the tape have 28 bits.
    package static let bytesCeiling = (1 << 28) - 1

    /// Deepest nesting for any `depthMax`: merging recurses over nested objects.
    package static let depthCeiling = 1_000

    /// Deepest nesting of received JSON, including the enclosing object: deeper than any observed
    /// content state, and shallow enough for later decoders.
    package static let receivedDepthMax = 32

    /// Levels that a log, a head, a page of a list or a push adds around received JSON; none adds
    /// more. So accepted JSON can always be stored, sent and read back.
    package static let envelopeDepthMax = 8

    /// Deepest nesting of a content state, including its clip's frame: the request encloses it.
    package static let stateDepthMax = receivedDepthMax - 1

    /// Limits for a request:
    package static let received = JSONLimits(depthMax: receivedDepthMax, numbersFit: true)

    /// Deepest nesting of objects and arrays: a lone number has depth 0, `[]` has depth 1.
    package let depthMax: Int

    /// True if numbers that a double cannot hold are refused: they would become infinite, or 0
    /// without being 0. JSON allows them, but apps' decoders do not accept them.
    package let numbersFit: Bool

    /// Most bytes of the whole text, including surrounding white space.
    package let bytesMax: Int

    /// Makes limits, reduced to the scanner's own ceilings. Negative values count as 0.
    ///
    /// - Parameters:
    ///   - depthMax: by default received JSON with its envelope.
    ///   - bytesMax: by default 64 MiB, a large file of timelines; network input gets far less.
    ///   - numbersFit: true if numbers must fit into a double.
    package init(
        depthMax: Int = receivedDepthMax + envelopeDepthMax, bytesMax: Int = 64 * 1024 * 1024,
        numbersFit: Bool = false
    ) {
        self.numbersFit = numbersFit
        self.depthMax = max(0, min(depthMax, Self.depthCeiling))
        self.bytesMax = max(0, min(bytesMax, Self.bytesCeiling))
    }
}
