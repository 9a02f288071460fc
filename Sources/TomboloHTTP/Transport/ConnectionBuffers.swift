/// Buffers that the connections of one loop share. An idle connection holds none. On the loop only.
package final class ConnectionBuffers: @unchecked Sendable {
    // Sendable: used on the loop's thread only, by connections that check this.

    /// Maximum bytes of one read of clear text. A TLS read returns at most one record.
    static let inputBytes = 65_536

    /// Maximum number of output buffers that are kept for reuse.
    private static let sparesMax = 16

    let input = UnsafeMutableRawBufferPointer.allocate(byteCount: inputBytes, alignment: 16)
    private var spares: [OutputBuffer] = []

    package init() {}

    deinit { input.deallocate() }

    func takeOutput() -> OutputBuffer { spares.popLast() ?? OutputBuffer() }

    func giveBack(_ buffer: OutputBuffer) {
        buffer.removeAll()
        if spares.count < Self.sparesMax { spares.append(buffer) }
    }
}
