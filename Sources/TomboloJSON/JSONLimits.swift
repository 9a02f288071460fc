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

    /// Objects and arrays inside one another; a lone number has depth 0, `[]` has depth 1.
    package let depthMax: Int

    /// Bytes of the whole text, surrounding space included.
    package let bytesMax: Int

    /// Limits, brought down to what the scanner itself can carry. Negative values count as 0.
    ///
    /// - Parameters:
    ///   - depthMax: 32 is deeper than any content state has been seen to nest, and shallow enough
    ///     for
    ///     every decoder further down the way.
    ///   - bytesMax: 64 MiB, a large file of timelines; whoever reads from the network sets much
    ///     less.
    package init(depthMax: Int = 32, bytesMax: Int = 64 * 1024 * 1024) {
        self.depthMax = max(0, min(depthMax, Self.depthCeiling))
        self.bytesMax = max(0, min(bytesMax, Self.bytesCeiling))
    }
}
