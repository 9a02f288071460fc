/// Buffer for output, from which one TLS record after the other is written.
package final class OutputBuffer {
    /// The plaintext of one full TLS record (RFC 8446, 5.1): the unit of writing.
    package static let recordBytes = 16_384

    private var base: UnsafeMutableRawPointer
    private var capacity: Int
    private var start = 0
    private var end = 0

    package init() {
        // Room for one nghttp2 frame that is appended to an almost full record.
        capacity = 2 * Self.recordBytes + 64
        base = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit { base.deallocate() }

    package var count: Int { end - start }
    package var isEmpty: Bool { start == end }

    /// True if it holds a full record. The owner then stops; the stream asks it again later.
    package var isFull: Bool { count >= Self.recordBytes }

    /// Appends all of `bytes`, even beyond a full record. An owner with many bytes appends them
    /// piece by piece.
    package func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return }
        reserve(bytes.count)
        (base + end).copyMemory(from: source, byteCount: bytes.count)
        end += bytes.count
    }

    package func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }

    package func append(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { append($0) }
    }

    package func append(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    /// The next bytes to write, at most one record.
    package var record: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base + start, count: min(count, Self.recordBytes))
    }

    /// Removes `count` written bytes.
    package func consume(_ count: Int) {
        start += count
        if start == end {
            start = 0
            end = 0
        }
    }

    func removeAll() {
        start = 0
        end = 0
    }

    private func reserve(_ more: Int) {
        guard end + more > capacity else { return }
        if start > 0 {
            base.copyMemory(from: base + start, byteCount: count)
            end -= start
            start = 0
        }
        guard end + more > capacity else { return }
        capacity = max(2 * capacity, end + more)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        larger.copyMemory(from: base, byteCount: end)
        base.deallocate()
        base = larger
    }
}
