/// How much JSON is taken from outside before it is refused.
///
/// The tape takes about twice the text's bytes in events, in the worst case (`[0,0,0…]`) eight
/// times as much, and twice that while it grows; nothing here protects against many such texts at
/// once.
package struct JSONLimits: Hashable, Sendable {
    /// No text may be longer, whatever `bytesMax` says: offsets and counts on the tape have 28
    /// bits.
    package static let bytesCeiling = (1 << 28) - 1

    /// No text may nest deeper, whatever `depthMax` says: merging walks nested objects by
    /// recursion.
    package static let depthCeiling = 1_000

    /// Of what comes from outside, with the object around it: deeper than any content state has
    /// been seen to nest, and shallow enough for every decoder further down the way.
    package static let receivedDepthMax = 32

    /// What a log, a head, a page of a listing or a push stands around what was received: none has
    /// more levels of its own. So whatever is taken is also stored, sent and read back.
    package static let envelopeDepthMax = 8

    /// A content state, its clip's frame included, nests no deeper: its request stands around it.
    package static let stateDepthMax = receivedDepthMax - 1

    /// What a request is held against: `receivedDepthMax`, and numbers that a double can hold.
    package static let received = JSONLimits(depthMax: receivedDepthMax, numbersFit: true)

    /// Objects and arrays inside one another; a lone number has depth 0, `[]` has depth 1.
    package let depthMax: Int

    /// Whether a number is refused that no double holds: one that would become infinite, or 0
    /// without being 0. JSON allows them, no decoder of an app takes them.
    package let numbersFit: Bool

    /// Bytes of the whole text, surrounding space included.
    package let bytesMax: Int

    /// Limits, brought down to what the scanner itself can carry. Negative values count as 0.
    ///
    /// - Parameters:
    ///   - depthMax: what was received once, with what stands around it.
    ///   - bytesMax: 64 MiB, a large file of timelines; what reads from the network sets much less.
    ///   - numbersFit: whether numbers must fit into a double.
    package init(
        depthMax: Int = receivedDepthMax + envelopeDepthMax, bytesMax: Int = 64 * 1024 * 1024,
        numbersFit: Bool = false
    ) {
        self.numbersFit = numbersFit
        self.depthMax = max(0, min(depthMax, Self.depthCeiling))
        self.bytesMax = max(0, min(bytesMax, Self.bytesCeiling))
    }
}
