/// Reads a body in the chunked coding (RFC 9112, 7.1). Skips chunk extensions up to a limit.
/// Trailers are checked like fields and then dropped.
struct HTTP1ChunkReader: Sendable {
    /// Maximum number of digits of a chunk's size: 15 hexadecimal digits never overflow an `Int`.
    static let sizeDigitsMax = 15
    /// Maximum length of a chunk's size line: the digits and the largest allowed extensions.
    private static let sizeLineBytesMax =
        sizeDigitsMax + HTTP1RequestParser.chunkExtensionBytesMax

    private enum State {
        case size
        case data(left: Int)
        /// Expects the CR LF after a chunk's bytes.
        case dataEnd
        case trailers(bytes: Int, count: Int)
        case finished
        /// The body is bad, but good bytes came before the fault. They are returned first; the next
        /// `read` throws the refusal.
        case refused(HTTP1Refusal)
    }

    private var state = State.size
    private var extensionBytes = 0

    var isFinished: Bool {
        if case .finished = state { true } else { false }
    }

    /// Takes all bytes of the body that the buffer holds; the result joins several chunks.
    mutating func read(_ buffer: inout HTTP1LineBuffer) throws(HTTP1Refusal) -> [UInt8] {
        var piece: [UInt8] = []
        do throws(HTTP1Refusal) {
            while try step(&buffer, &piece) {}
        } catch {
            guard !piece.isEmpty else { throw error }
            state = .refused(error)
        }
        return piece
    }

    /// Processes one element. Returns false if more bytes are needed or the body is finished.
    private mutating func step(
        _ buffer: inout HTTP1LineBuffer, _ piece: inout [UInt8]
    ) throws(HTTP1Refusal) -> Bool {
        switch state {
        case .size:
            guard let line = try takeSizeLine(&buffer) else { return false }
            let size = try readSize(line)
            state = size == 0 ? .trailers(bytes: 0, count: 0) : .data(left: size)
        case .data(let left):
            guard let bytes = buffer.takeUpTo(left) else { return false }
            if piece.isEmpty { piece = bytes } else { piece += bytes }
            state = bytes.count == left ? .dataEnd : .data(left: left - bytes.count)
        case .dataEnd:
            guard try buffer.takeLineEnd() else { return false }
            state = .size
        case .trailers(let bytes, let count):
            return try readTrailer(&buffer, bytes: bytes, count: count)
        case .finished: return false
        case .refused(let refusal): throw refusal
        }
        return true
    }

    /// Takes the line with a chunk's size; nil if it is incomplete. Refuses a line that is too
    /// long, even before its end has come.
    private func takeSizeLine(
        _ buffer: inout HTTP1LineBuffer
    ) throws(HTTP1Refusal) -> ArraySlice<UInt8>? {
        guard let line = try buffer.takeLine() else {
            if buffer.count > Self.sizeLineBytesMax + 1 { throw .chunkExtensionsTooLarge }
            return nil
        }
        guard line.count <= Self.sizeLineBytesMax else { throw .chunkExtensionsTooLarge }
        return line
    }

    private mutating func readSize(_ line: ArraySlice<UInt8>) throws(HTTP1Refusal) -> Int {
        var size = 0
        var digits = 0
        while digits < line.count, let value = HTTP1Bytes.hexValue(line[line.startIndex + digits]) {
            guard digits < Self.sizeDigitsMax else { throw .badChunk }
            size = size << 4 | value
            digits += 1
        }
        guard digits > 0 else { throw .badChunk }
        let extensions = line.dropFirst(digits)
        if let first = extensions.first {
            guard first == UInt8(ascii: ";"), extensions.allSatisfy(HTTP1Bytes.isFieldValueByte)
            else { throw .badChunk }
            extensionBytes += extensions.count
            guard extensionBytes <= HTTP1RequestParser.chunkExtensionBytesMax else {
                throw .chunkExtensionsTooLarge
            }
        }
        return size
    }

    /// Reads one trailer line. Returns false if no complete line is buffered.
    private mutating func readTrailer(
        _ buffer: inout HTTP1LineBuffer, bytes: Int, count: Int
    ) throws(HTTP1Refusal) -> Bool {
        let room = HTTP1RequestParser.headBytesMax - bytes
        guard let line = try buffer.takeLine() else {
            if buffer.count >= room { throw .trailersTooLarge }
            return false
        }
        guard line.count + 2 <= room else { throw .trailersTooLarge }
        if line.isEmpty {
            state = .finished
            return true
        }
        guard count < HTTP1RequestParser.fieldsMax else { throw .trailersTooLarge }
        _ = try HTTP1FieldLine.read(line)
        state = .trailers(bytes: bytes + line.count + 2, count: count + 1)
        return true
    }
}
