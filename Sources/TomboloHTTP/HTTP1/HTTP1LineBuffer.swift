/// Unread bytes of a connection. Lines and runs of bytes are taken from the front.
struct HTTP1LineBuffer: Sendable {
    private var bytes: [UInt8] = []
    private var start = 0
    /// No line feed comes before this index, so a line that arrives slowly is searched only once.
    private var searched = 0

    var count: Int { bytes.count - start }

    mutating func append(_ more: UnsafeRawBufferPointer) {
        compact()
        bytes.append(contentsOf: more)
    }

    mutating func append(_ more: some Collection<UInt8>) {
        compact()
        bytes.append(contentsOf: more)
    }

    mutating func removeAll() {
        bytes = []
        start = 0
        searched = 0
    }

    /// Takes the next line, without its CR LF; nil if it is incomplete. Throws `.bareLineEnd` if a
    /// line feed has no carriage return before it, or if the line contains another carriage return.
    mutating func takeLine() throws(HTTP1Refusal) -> ArraySlice<UInt8>? {
        guard let end = bytes[searched...].firstIndex(of: HTTP1Bytes.lf) else {
            searched = bytes.count
            return nil
        }
        guard end > start, bytes[end - 1] == HTTP1Bytes.cr else { throw .bareLineEnd }
        let line = bytes[start..<(end - 1)]
        if line.contains(HTTP1Bytes.cr) { throw .bareLineEnd }
        start = end + 1
        searched = start
        return line
    }

    /// Takes at most `most` bytes (`most` > 0); nil if the buffer is empty.
    mutating func takeUpTo(_ most: Int) -> [UInt8]? {
        guard count > 0 else { return nil }
        let end = start + min(most, count)
        let piece = start == 0 && end == bytes.count ? bytes : Array(bytes[start..<end])
        start = end
        searched = end
        return piece
    }

    /// Takes the CR LF that must come next. Returns false if it is incomplete.
    mutating func takeLineEnd() throws(HTTP1Refusal) -> Bool {
        guard count > 0 else { return false }
        guard bytes[start] == HTTP1Bytes.cr else {
            throw bytes[start] == HTTP1Bytes.lf ? .bareLineEnd : .badChunk
        }
        guard count > 1 else { return false }
        guard bytes[start + 1] == HTTP1Bytes.lf else { throw .bareLineEnd }
        start += 2
        searched = start
        return true
    }

    /// Moves the unread bytes to the front once at least half of the storage has been read.
    private mutating func compact() {
        guard start > 0 else { return }
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity <= 64 * 1024)
        } else if start >= bytes.count / 2 {
            bytes.removeSubrange(..<start)
        } else {
            return
        }
        searched -= start
        start = 0
    }
}
