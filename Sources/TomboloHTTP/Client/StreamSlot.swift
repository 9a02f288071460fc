/// State of one request. It never moves, because nghttp2 keeps a pointer to it.
///
/// A thousand are open at once, and each leaves the CPU cache between request and answer. So the
/// parts that every request needs share one cache line of 64 bytes. The rest (`extras`) follows it
/// and is read only when needed.
struct StreamSlot {
    /// Maximum size of the varying values that nghttp2 points to. It copies larger ones.
    static let valueBytesMax = 384
    static let lineBytes = 64
    /// Bytes of a slot with its extras.
    static let strideBytes = 2 * lineBytes

    /// 0: the slot is free.
    var streamID: Int32 = 0
    var status: Int32 = 0
    var tag: UInt64 = 0
    /// Monotonic nanoseconds.
    var deadline = Int64.max
    /// Offset of the request in the connection's output; `unwritten` while it waits in nghttp2.
    var outputOffset = StreamSlot.unwritten
    /// The request's body; empty again once it is written.
    var requestBody: [UInt8] = []
    var requestOffset = 0
    /// In a slot in use, the memory of the request's values until they are written. In a free slot,
    /// the next free slot.
    var link: UnsafeMutableRawPointer?

    /// True if the session's own receiver must still get the outcome.
    var tellsSessionReceiver = false
    /// True if only the status of a 200 is kept.
    var keepsFailuresOnly = false
    var hasRequestEnded = false
    /// True once the final answer's fields are complete. Later fields are trailers.
    var hasHead = false
    /// True once END_STREAM came.
    var hasEnded = false
    fileprivate(set) var hasExtras = false

    static let unwritten = UInt64.max

    /// True if only the status of the answer is needed.
    var isBare: Bool { keepsFailuresOnly && status == 200 }
}

/// Parts that few requests need.
private struct StreamExtras {
    var receiver: (any HTTP2AnswerReceiver)?
    var stream: HTTP2ResponseStream?
    var fields = HTTPFields()
    var answerBody: [UInt8] = []
}

/// The slot with its extras.
extension UnsafeMutablePointer<StreamSlot> {
    /// Initializes a slot in memory of `StreamSlot.strideBytes`, aligned to a cache line.
    static func initialize(_ memory: UnsafeMutableRawPointer) -> Self {
        precondition(MemoryLayout<StreamSlot>.size <= StreamSlot.lineBytes)
        precondition(MemoryLayout<StreamExtras>.size <= StreamSlot.lineBytes)
        (memory + StreamSlot.lineBytes).initializeMemory(as: StreamExtras.self, to: StreamExtras())
        return memory.initializeMemory(as: StreamSlot.self, to: StreamSlot())
    }

    func deinitializeSlot() {
        extras.deinitialize(count: 1)
        deinitialize(count: 1)
    }

    private var extras: UnsafeMutablePointer<StreamExtras> {
        (UnsafeMutableRawPointer(self) + StreamSlot.lineBytes)
            .assumingMemoryBound(to: StreamExtras.self)
    }

    /// Receiver of the outcome. nil after the outcome was reported, for streamed answers, and if
    /// the session's own receiver gets it.
    var receiver: (any HTTP2AnswerReceiver)? {
        get { pointee.hasExtras ? extras.pointee.receiver : nil }
        nonmutating set {
            guard pointee.hasExtras || newValue != nil else { return }
            pointee.hasExtras = true
            extras.pointee.receiver = newValue
        }
    }

    /// Receiver of a streamed answer; nil once the answer has ended.
    var stream: HTTP2ResponseStream? {
        get { pointee.hasExtras ? extras.pointee.stream : nil }
        nonmutating set {
            guard pointee.hasExtras || newValue != nil else { return }
            pointee.hasExtras = true
            extras.pointee.stream = newValue
        }
    }

    /// The answer's fields, if they are kept.
    var fields: HTTPFields { pointee.hasExtras ? extras.pointee.fields : HTTPFields() }
    /// The answer's body, if it is kept.
    var answerBody: [UInt8] { pointee.hasExtras ? extras.pointee.answerBody : [] }

    /// True once the outcome was reported; the slot waits for nghttp2 to close the stream.
    var isTold: Bool { !pointee.tellsSessionReceiver && receiver == nil && stream == nil }

    /// Adds a field of the answer. Returns false if there are too many or they are too large.
    func append(
        field name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, bytesMax: Int
    ) -> Bool {
        pointee.hasExtras = true
        extras.pointee.fields.append(name: name, value: value)
        return extras.pointee.fields.count <= HTTP2ClientSession.fieldsMax
            && extras.pointee.fields.listBytes <= bytesMax
    }

    func dropFields() {
        if pointee.hasExtras { extras.pointee.fields = HTTPFields() }
    }

    /// Adds a piece of the answer's body. Returns false if the body is too large.
    func append(body bytes: UnsafeRawBufferPointer, bytesMax: Int) -> Bool {
        pointee.hasExtras = true
        guard extras.pointee.answerBody.count + bytes.count <= bytesMax else { return false }
        extras.pointee.answerBody.append(contentsOf: bytes)
        return true
    }

    /// Resets the slot. Parts that are already empty are only checked.
    func clear() {
        pointee.streamID = 0
        pointee.status = 0
        pointee.deadline = .max
        pointee.outputOffset = StreamSlot.unwritten
        if !pointee.requestBody.isEmpty { pointee.requestBody = [] }
        pointee.requestOffset = 0
        pointee.tellsSessionReceiver = false
        pointee.keepsFailuresOnly = false
        pointee.hasRequestEnded = false
        pointee.hasHead = false
        pointee.hasEnded = false
        if pointee.hasExtras {
            pointee.hasExtras = false
            extras.pointee = StreamExtras()
        }
    }
}
