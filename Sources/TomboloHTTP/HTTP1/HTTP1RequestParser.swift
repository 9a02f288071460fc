/// Reads requests in HTTP/1.1 (RFC 9112) out of the bytes of one connection. Pure: `append` takes
/// bytes and `next` returns events. A caller that does not call `next` exerts back-pressure.
/// Pipelined requests wait in the buffer until the one before them is answered.
///
/// It accepts only requests that every parser reads alike, and refuses others (`HTTP1Refusal`).
/// After a refusal it returns no more events. It buffers all appended bytes until `next` takes
/// them: append only after `next` has returned nil.
package struct HTTP1RequestParser: Sendable {
    /// Maximum size of a head in bytes, with its line ends: twice the default of nginx and Apache.
    package static let headBytesMax = 16 * 1024
    /// Maximum number of fields in a head, and in trailers.
    package static let fieldsMax = 64
    /// Maximum size of all chunk extensions of one request in bytes. Extensions are skipped (RFC
    /// 9112, 7.1.1).
    package static let chunkExtensionBytesMax = 1024

    enum State {
        /// Before the request line. `emptyLineSeen`: an empty line has come; one is tolerated.
        case start(emptyLineSeen: Bool)
        case fields(HTTP1HeadBuilder)
        case length(left: Int)
        case chunks(HTTP1ChunkReader)
        /// The body is complete; `next` returns `.end` next.
        case ending
        case refused
    }

    private var state = State.start(emptyLineSeen: false)
    private var buffer = HTTP1LineBuffer()
    /// Bytes of the current head that were already read.
    private var headBytes = 0

    package init() {}

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if !hasRefused { buffer.append(bytes) }
    }

    package mutating func append(_ bytes: some Collection<UInt8>) {
        if !hasRefused { buffer.append(bytes) }
    }

    /// True if the parser has refused. Later bytes are dropped.
    private var hasRefused: Bool {
        if case .refused = state { true } else { false }
    }

    /// Buffered bytes: a part of a head, or pipelined requests.
    package var bytesHeld: Int { buffer.count }

    /// True if the parser is between two requests and holds no bytes: the connection is idle and
    /// may be closed without harm.
    package var isBetweenRequests: Bool {
        if case .start = state { buffer.count == 0 } else { false }
    }

    /// The next event; nil if more bytes are needed or the parser has refused.
    package mutating func next() -> HTTP1RequestEvent? {
        do {
            return try step()
        } catch {
            state = .refused
            buffer.removeAll()
            return .refused(error)
        }
    }

    private mutating func step() throws(HTTP1Refusal) -> HTTP1RequestEvent? {
        while true {
            switch state {
            case .start(let emptyLineSeen):
                guard try readRequestLine(emptyLineSeen: emptyLineSeen) else { return nil }
            case .fields(var builder):
                state = .refused  // Releases `builder`, so a change does not copy it.
                guard let request = try readFields(&builder) else {
                    state = .fields(builder)
                    return nil
                }
                begin(request.body)
                return .head(request)
            case .length(let left):
                guard let piece = buffer.takeUpTo(left) else { return nil }
                state = piece.count == left ? .ending : .length(left: left - piece.count)
                return .body(piece)
            case .chunks(var reader):
                state = .refused
                let piece = try reader.read(&buffer)
                state = reader.isFinished ? .ending : .chunks(reader)
                if !piece.isEmpty { return .body(piece) }
                if !reader.isFinished { return nil }
            case .ending:
                state = .start(emptyLineSeen: false)
                headBytes = 0
                return .end
            case .refused:
                return nil
            }
        }
    }

    private mutating func begin(_ body: HTTP1Request.Body) {
        switch body {
        case .none: state = .ending
        case .length(let count): state = .length(left: count)
        case .chunked: state = .chunks(HTTP1ChunkReader())
        }
    }

    /// Returns false if the line is incomplete.
    private mutating func readRequestLine(emptyLineSeen: Bool) throws(HTTP1Refusal) -> Bool {
        guard let line = try takeHeadLine(orTooLong: .targetTooLong) else { return false }
        if line.isEmpty {
            // One empty line is tolerated: old clients send it after a body (RFC 9112, 2.2).
            guard !emptyLineSeen else { throw .badRequestLine }
            state = .start(emptyLineSeen: true)
            return true
        }
        state = .fields(try HTTP1HeadBuilder(requestLine: line))
        return true
    }

    private mutating func readFields(
        _ builder: inout HTTP1HeadBuilder
    ) throws(HTTP1Refusal) -> HTTP1Request? {
        while let line = try takeHeadLine(orTooLong: .fieldsTooLarge) {
            if line.isEmpty { return try builder.finish() }
            try builder.add(fieldLine: line)
        }
        return nil
    }

    private mutating func takeHeadLine(
        orTooLong tooLong: HTTP1Refusal
    ) throws(HTTP1Refusal) -> ArraySlice<UInt8>? {
        let room = Self.headBytesMax - headBytes
        guard let line = try buffer.takeLine() else {
            if buffer.count >= room { throw tooLong }
            return nil
        }
        guard line.count + 2 <= room else { throw tooLong }
        headBytes += line.count + 2
        return line
    }
}
