import CLinux

/// Slots for the streams of one connection: reached by pointer, used again, never moved.
final class StreamSlab {
    typealias Slot = UnsafeMutablePointer<StreamSlot>

    private static let chunkCount = 64

    /// Behind a pointer: the run-time check for exclusive access costs more than what is done here.
    private struct State {
        var chunks: [UnsafeMutableRawPointer] = []
        var used = 0
        var free: Slot?
        var valueChunks: [UnsafeMutableRawPointer] = []
        /// Begins with a pointer to the next one.
        var freeValues: UnsafeMutableRawPointer?
    }

    private let state = UnsafeMutablePointer<State>.allocate(capacity: 1)

    init() {
        state.initialize(to: State())
    }

    deinit {
        for chunk in state.pointee.chunks {
            for index in 0..<Self.chunkCount { slot(index, of: chunk).deinitializeSlot() }
            chunk.deallocate()
        }
        for chunk in state.pointee.valueChunks { chunk.deallocate() }
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Slots in use.
    var count: Int { state.pointee.used }

    func take() -> Slot {
        state.pointee.used += 1
        let slot = state.pointee.free ?? addChunk()
        state.pointee.free = slot.pointee.link?.assumingMemoryBound(to: StreamSlot.self)
        // The next one has left the cache since it was used; when it is asked for it is back.
        tombolo_prefetch(slot.pointee.link)
        slot.pointee.link = nil
        return slot
    }

    private func slot(_ index: Int, of chunk: UnsafeMutableRawPointer) -> Slot {
        (chunk + index * StreamSlot.strideBytes).assumingMemoryBound(to: StreamSlot.self)
    }

    private func addChunk() -> Slot {
        let chunk = UnsafeMutableRawPointer.allocate(
            byteCount: Self.chunkCount * StreamSlot.strideBytes,
            alignment: StreamSlot.lineBytes)
        for index in (0..<Self.chunkCount).reversed() {
            let slot = Slot.initialize(chunk + index * StreamSlot.strideBytes)
            slot.pointee.link =
                index + 1 < Self.chunkCount
                ? chunk + (index + 1) * StreamSlot.strideBytes : nil
        }
        state.pointee.chunks.append(chunk)
        return slot(0, of: chunk)
    }

    func giveBack(_ slot: Slot) {
        giveBackValues(of: slot)
        slot.clear()
        state.pointee.used -= 1
        slot.pointee.link = UnsafeMutableRawPointer(state.pointee.free)
        state.pointee.free = slot
    }

    /// Memory for the values of the request in `slot`, of `StreamSlot.valueBytesMax`: what is
    /// written out gives it to the next, while it is warm.
    func takeValues(for slot: Slot) -> UnsafeMutableRawPointer {
        let values = state.pointee.freeValues ?? addValues()
        let next = values.load(as: UnsafeMutableRawPointer?.self)
        state.pointee.freeValues = next
        tombolo_prefetch(next)
        slot.pointee.link = values
        return values
    }

    private func addValues() -> UnsafeMutableRawPointer {
        let size = StreamSlot.valueBytesMax
        let chunk = UnsafeMutableRawPointer.allocate(
            byteCount: Self.chunkCount * size, alignment: StreamSlot.lineBytes)
        for index in 0..<Self.chunkCount {
            let next = index + 1 < Self.chunkCount ? chunk + (index + 1) * size : nil
            (chunk + index * size).storeBytes(of: next, as: UnsafeMutableRawPointer?.self)
        }
        state.pointee.valueChunks.append(chunk)
        return chunk
    }

    /// nghttp2 needs them no more, or never will.
    func giveBackValues(of slot: Slot) {
        guard let values = slot.pointee.link else { return }
        slot.pointee.link = nil
        values.storeBytes(of: state.pointee.freeValues, as: UnsafeMutableRawPointer?.self)
        state.pointee.freeValues = values
    }

    /// All slots in use. `body` must not take or give back slots.
    func forEach(_ body: (Slot) -> Void) {
        guard count > 0 else { return }
        for chunk in state.pointee.chunks {
            for index in 0..<Self.chunkCount {
                let slot = slot(index, of: chunk)
                if slot.pointee.streamID != 0 { body(slot) }
            }
        }
    }

    /// Costs a walk: for what is rare.
    func find(_ streamID: Int32) -> Slot? {
        for chunk in state.pointee.chunks {
            for index in 0..<Self.chunkCount {
                let slot = slot(index, of: chunk)
                if slot.pointee.streamID == streamID { return slot }
            }
        }
        return nil
    }
}
