import Glibc

/// What the client knows of one request. Lives at a fixed place: nghttp2 carries its pointer.
struct StreamSlot {
    /// What a request's own values may take while nghttp2 has pointers to them.
    static let valueBytesMax = 384

    /// Memory of its own, for the values of the request that it carries.
    fileprivate(set) var values: UnsafeMutableRawPointer

    /// Of a free slot: the next free one.
    fileprivate var nextFree: UnsafeMutablePointer<StreamSlot>?
    /// 0: the slot is free.
    var streamID: Int32 = 0
    var status: Int32 = 0
    var tag: UInt64 = 0
    /// nil once the outcome was told, for streamed answers, and where the session's own receiver is
    /// told.
    var receiver: (any HTTP2AnswerReceiver)?
    /// The session's own receiver is to be told; false once it was.
    var tellsSessionReceiver = false
    var stream: HTTP2ResponseStream?
    /// Monotonic nanoseconds.
    var deadline = Int64.max

    var requestBody: [UInt8] = []
    var requestOffset = 0
    /// Where in the connection's output the request begins; `unwritten` while it waits in nghttp2.
    var outputOffset = StreamSlot.unwritten

    /// Of a 200 only the status is kept.
    var keepsFailuresOnly = false
    var hasRequestEnded = false
    /// Fields of the final answer are complete; what comes then are trailers.
    var hasHead = false
    /// END_STREAM came.
    var hasEnded = false

    var fields = HTTPFields()
    var answerBody: [UInt8] = []

    static let unwritten = UInt64.max

    fileprivate init(values: UnsafeMutableRawPointer) { self.values = values }

    /// The outcome was told; the slot waits for nghttp2 to let go.
    var isTold: Bool { !tellsSessionReceiver && receiver == nil && stream == nil }

    /// Nothing of the answer but its status is of interest.
    var isBare: Bool { keepsFailuresOnly && status == 200 }

    /// As it was before its first request. Most of it is so already, and costs only a look.
    fileprivate mutating func clear() {
        streamID = 0
        status = 0
        if receiver != nil { receiver = nil }
        tellsSessionReceiver = false
        if stream != nil { stream = nil }
        deadline = .max
        requestBody = []
        requestOffset = 0
        outputOffset = Self.unwritten
        keepsFailuresOnly = false
        hasRequestEnded = false
        hasHead = false
        hasEnded = false
        if !fields.isEmpty { fields = HTTPFields() }
        if !answerBody.isEmpty { answerBody = [] }
    }
}

/// Slots for the streams of one connection: reached by pointer, used again, never moved.
final class StreamSlab {
    typealias Slot = UnsafeMutablePointer<StreamSlot>

    private static let chunkCount = 64

    private var chunks: [Slot] = []
    /// Behind a pointer: the run-time check for exclusive access costs more than what is done here.
    private let free = UnsafeMutablePointer<Slot?>.allocate(capacity: 1)
    private let used = UnsafeMutablePointer<Int>.allocate(capacity: 1)

    init() {
        free.initialize(to: nil)
        used.initialize(to: 0)
    }

    deinit {
        for chunk in chunks {
            chunk.pointee.values.deallocate()
            chunk.deinitialize(count: Self.chunkCount)
            chunk.deallocate()
        }
        free.deallocate()
        used.deallocate()
    }

    /// Slots in use.
    var count: Int { used.pointee }

    func take() -> Slot {
        used.pointee += 1
        let slot = free.pointee ?? addChunk()
        free.pointee = slot.pointee.nextFree
        return slot
    }

    private func addChunk() -> Slot {
        let chunk = Slot.allocate(capacity: Self.chunkCount)
        let values = UnsafeMutableRawPointer.allocate(
            byteCount: Self.chunkCount * StreamSlot.valueBytesMax, alignment: 16)
        for index in 0..<Self.chunkCount {
            (chunk + index).initialize(
                to: StreamSlot(values: values + index * StreamSlot.valueBytesMax))
            if index > 0 { chunk[index - 1].nextFree = chunk + index }
        }
        chunks.append(chunk)
        return chunk
    }

    func giveBack(_ slot: Slot) {
        slot.pointee.clear()
        used.pointee -= 1
        slot.pointee.nextFree = free.pointee
        free.pointee = slot
    }

    /// All slots in use. `body` must not take or give back slots.
    func forEach(_ body: (Slot) -> Void) {
        guard count > 0 else { return }
        for chunk in chunks {
            for index in 0..<Self.chunkCount where chunk[index].streamID != 0 {
                body(chunk + index)
            }
        }
    }

    /// Costs a walk: for what is rare.
    func find(_ streamID: Int32) -> Slot? {
        for chunk in chunks {
            for index in 0..<Self.chunkCount where chunk[index].streamID == streamID {
                return chunk + index
            }
        }
        return nil
    }
}
