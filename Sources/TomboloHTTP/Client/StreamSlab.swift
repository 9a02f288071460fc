/// What the client knows of one request. Lives at a fixed place: nghttp2 carries its pointer.
struct StreamSlot {
    var streamID: Int32 = 0
    var tag: UInt64 = 0
    /// nil once the outcome was told, and for streamed answers.
    var receiver: (any HTTP2AnswerReceiver)?
    var stream: HTTP2ResponseStream?
    /// Monotonic nanoseconds.
    var deadline = Int64.max

    var requestBody: [UInt8] = []
    var requestOffset = 0
    var hasRequestEnded = false
    /// Where in the connection's output the request begins; nil while it waits in nghttp2.
    var outputOffset: UInt64?

    var status = 0
    var fields = HTTPFields()
    var answerBody: [UInt8] = []
    /// Fields of the final answer are complete; what comes then are trailers.
    var hasHead = false
    /// END_STREAM came.
    var hasEnded = false

    /// The outcome was told; the slot waits for nghttp2 to let go.
    var isTold: Bool { receiver == nil && stream == nil }
}

/// Slots for the streams of one connection: reached by pointer, used again, never moved.
final class StreamSlab {
    typealias Slot = UnsafeMutablePointer<StreamSlot>

    private static let chunkCount = 64

    private var chunks: [Slot] = []
    private var free: [Slot] = []

    /// Slots in use.
    var count: Int { chunks.count * Self.chunkCount - free.count }

    deinit {
        for chunk in chunks {
            chunk.deinitialize(count: Self.chunkCount)
            chunk.deallocate()
        }
    }

    func take() -> Slot {
        if let slot = free.popLast() { return slot }
        let chunk = Slot.allocate(capacity: Self.chunkCount)
        chunk.initialize(repeating: StreamSlot(), count: Self.chunkCount)
        chunks.append(chunk)
        for index in stride(from: Self.chunkCount - 1, to: 0, by: -1) { free.append(chunk + index) }
        return chunk
    }

    func giveBack(_ slot: Slot) {
        slot.pointee = StreamSlot()
        free.append(slot)
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
