/// What the client knows of one request. Lives at a fixed place: nghttp2 carries its pointer.
///
/// A thousand of them are open at once, and each comes out of the cache between its request and its
/// answer. So what every request needs stands together in 64 bytes, a line of the cache, and the
/// rest (`extras`) behind it, where it is not even looked at without need.
struct StreamSlot {
    /// What a request's own values may take while nghttp2 has pointers to them.
    static let valueBytesMax = 384
    static let lineBytes = 64
    /// Slot and extras.
    static let strideBytes = 2 * lineBytes

    /// 0: the slot is free.
    var streamID: Int32 = 0
    var status: Int32 = 0
    var tag: UInt64 = 0
    /// Monotonic nanoseconds.
    var deadline = Int64.max
    /// Where in the connection's output the request begins; `unwritten` while it waits in nghttp2.
    var outputOffset = StreamSlot.unwritten
    /// Empty again once it is written.
    var requestBody: [UInt8] = []
    var requestOffset = 0
    /// Of a slot in use: the memory of the request's own values, until they are written. Of a free
    /// one: the next free one.
    var link: UnsafeMutableRawPointer?

    /// The session's own receiver is to be told; false once it was.
    var tellsSessionReceiver = false
    /// Of a 200 only the status is kept.
    var keepsFailuresOnly = false
    var hasRequestEnded = false
    /// Fields of the final answer are complete; what comes then are trailers.
    var hasHead = false
    /// END_STREAM came.
    var hasEnded = false
    /// Some of the extras are set.
    fileprivate(set) var hasExtras = false

    static let unwritten = UInt64.max

    /// Nothing of the answer but its status is of interest.
    var isBare: Bool { keepsFailuresOnly && status == 200 }
}

/// What few requests need.
private struct StreamExtras {
    var receiver: (any HTTP2AnswerReceiver)?
    var stream: HTTP2ResponseStream?
    var fields = HTTPFields()
    var answerBody: [UInt8] = []
}

/// The slot with its extras.
extension UnsafeMutablePointer<StreamSlot> {
    /// In memory of `StreamSlot.strideBytes`, aligned to a line.
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

    /// nil once the outcome was told, for streamed answers, and where the session's own receiver is
    /// told.
    var receiver: (any HTTP2AnswerReceiver)? {
        get { pointee.hasExtras ? extras.pointee.receiver : nil }
        nonmutating set {
            guard pointee.hasExtras || newValue != nil else { return }
            pointee.hasExtras = true
            extras.pointee.receiver = newValue
        }
    }

    /// Where the answer goes piece by piece; nil once it has ended.
    var stream: HTTP2ResponseStream? {
        get { pointee.hasExtras ? extras.pointee.stream : nil }
        nonmutating set {
            guard pointee.hasExtras || newValue != nil else { return }
            pointee.hasExtras = true
            extras.pointee.stream = newValue
        }
    }

    /// Of the answer, as far as they are kept.
    var fields: HTTPFields { pointee.hasExtras ? extras.pointee.fields : HTTPFields() }
    /// Of the answer, as far as it is kept.
    var answerBody: [UInt8] { pointee.hasExtras ? extras.pointee.answerBody : [] }

    /// The outcome was told; the slot waits for nghttp2 to let go.
    var isTold: Bool { !pointee.tellsSessionReceiver && receiver == nil && stream == nil }

    /// A field of the answer came; false where there are too many, or too large ones.
    func append(
        field name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, bytesMax: Int
    ) -> Bool {
        pointee.hasExtras = true
        extras.pointee.fields.append(name: name, value: value)
        return extras.pointee.fields.count <= HTTP2ClientSession.fieldsMax
            && extras.pointee.fields.listBytes <= bytesMax
    }

    /// The fields so far were those of an interim answer.
    func dropFields() {
        if pointee.hasExtras { extras.pointee.fields = HTTPFields() }
    }

    /// A piece of the answer's body came; false where it is too large.
    func append(body bytes: UnsafeRawBufferPointer, bytesMax: Int) -> Bool {
        pointee.hasExtras = true
        guard extras.pointee.answerBody.count + bytes.count <= bytesMax else { return false }
        extras.pointee.answerBody.append(contentsOf: bytes)
        return true
    }

    /// As it was before its first request. What is so already costs only a look.
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
