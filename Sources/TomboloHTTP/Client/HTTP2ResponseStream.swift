import TomboloLoop

/// A request with a streamed answer and optionally a streamed body, for following a log and for
/// long uploads. On the loop only.
///
/// Flow control gives back-pressure: the peer may send at most `streamWindowBytes` that `next()`
/// has not returned yet. `cancel()` ends a stream that is no longer needed.
package final class HTTP2ResponseStream: @unchecked Sendable {
    // Sendable: used on the loop's thread only; the client enforces it.

    /// Status and fields of the answer.
    package struct Head: Hashable, Sendable {
        package let status: Int
        package let fields: HTTPFields
    }

    private enum End {
        case none
        case whole
        case failed(HTTP2Failure)
    }

    private weak var client: HTTP2Client?
    private(set) var streamID: Int32 = 0
    private let writeBytesMax: Int
    private let reader: Parking
    private let writer: Parking

    private var answerHead: Head?
    private var pieces: [[UInt8]] = []
    private var nextPiece = 0
    private var end = End.none

    private var upload: [UInt8] = []
    /// True while more of the request's body may come.
    private var isUploadOpen: Bool

    init(_ client: HTTP2Client, loop: any Loop, writeBytesMax: Int, uploads: Bool) {
        self.client = client
        self.writeBytesMax = writeBytesMax
        isUploadOpen = uploads
        reader = Parking(loop)
        writer = Parking(loop)
    }

    /// True while the request's body is incomplete or not fully handed to nghttp2.
    var hasMoreUpload: Bool { isUploadOpen || !upload.isEmpty }

    func begin(_ streamID: Int32) { self.streamID = streamID }

    // MARK: Answer

    /// Status and fields; waits for them. Throws `HTTP2Failure`, or `CancellationError`.
    package func head() async throws -> Head {
        while true {
            if let answerHead { return answerHead }
            if case .failed(let failure) = end { throw failure }
            try await wait(reader)
        }
    }

    /// The next piece of the answer's body; nil at its end. Throws `HTTP2Failure`, or
    /// `CancellationError`.
    package func next() async throws -> [UInt8]? {
        while true {
            if nextPiece < pieces.count { return takePiece() }
            switch end {
            case .whole: return nil
            case .failed(let failure): throw failure
            case .none: try await wait(reader)
            }
        }
    }

    private func takePiece() -> [UInt8] {
        let piece = pieces[nextPiece]
        nextPiece += 1
        if nextPiece == pieces.count {
            pieces.removeAll(keepingCapacity: true)
            nextPiece = 0
        }
        client?.consumed(streamID, piece.count)
        return piece
    }

    // MARK: Request

    /// Appends to the request's body; waits while `streamWriteBytesMax` or more bytes are buffered.
    /// Throws `CancellationError`, or `HTTP2Failure`, also if the answer ended before the request.
    package func write(_ piece: [UInt8]) async throws {
        precondition(isUploadOpen, "the request has no streamed body, or it is finished")
        while upload.count >= writeBytesMax {
            try checkUpload()
            try await wait(writer)
        }
        try checkUpload()
        upload.append(contentsOf: piece)
        client?.resumeUpload(streamID)
    }

    /// Ends the request's body.
    package func finish() {
        guard isUploadOpen else { return }
        isUploadOpen = false
        client?.resumeUpload(streamID)
    }

    private func checkUpload() throws {
        switch end {
        case .none: return
        case .whole: throw HTTP2Failure.reset(0)
        case .failed(let failure): throw failure
        }
    }

    /// Ends the stream (RST_STREAM with CANCEL); no more pieces come.
    package func cancel() {
        isUploadOpen = false
        client?.cancel(streamID)
    }

    private func wait(_ place: Parking) async throws {
        if await place.park() == .cancelled { throw CancellationError() }
    }

    // MARK: From the session

    func headCame(status: Int, fields: HTTPFields) {
        answerHead = Head(status: status, fields: fields)
        reader.unpark()
    }

    func bodyCame(_ bytes: UnsafeRawBufferPointer) {
        pieces.append(Array(bytes))
        reader.unpark()
    }

    func ended(_ outcome: HTTP2Outcome) {
        switch outcome {
        case .answered: end = .whole
        case .notProcessed(let failure), .unknown(let failure): end = .failed(failure)
        }
        reader.unpark()
        writer.unpark()
    }

    /// Replaces the sent `body` with the bytes that wait, because nghttp2 wants more.
    func moveUpload(to body: inout [UInt8], _ offset: inout Int) {
        guard offset == body.count else { return }
        offset = 0
        body.removeAll(keepingCapacity: true)
        swap(&body, &upload)
        writer.unpark()
    }
}
