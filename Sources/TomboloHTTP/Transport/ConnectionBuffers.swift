/// Memory that the connections of one loop share: an idle connection holds none. On the loop only.
package final class ConnectionBuffers: @unchecked Sendable {
    // Sendable: touched on the loop's thread only, by connections that guard their faces.

    /// Clear text is read this much at a time; TLS at most a record.
    static let inputBytes = 65_536

    /// Output buffers that are kept for the next turn: more would be memory without use.
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
