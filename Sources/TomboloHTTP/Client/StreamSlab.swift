import CLinux

/// Slots for the streams of one connection. Slots are reached by pointer, reused, and never moved.
final class StreamSlab {
    typealias Slot = UnsafeMutablePointer<StreamSlot>

    private static let chunkCount = 64

    /// Behind a pointer: the run-time check for exclusive access would cost more than the accesses.
    private struct State {
        var chunks: [UnsafeMutableRawPointer] = []
        var used = 0
        var free: Slot?
        var valueChunks: [UnsafeMutableRawPointer] = []
        /// Free memory for values. Each piece begins with a pointer to the next one.
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

    func takeSlot() -> Slot {
        state.pointee.used += 1
        let slot = state.pointee.free ?? addChunk()
        state.pointee.free = slot.pointee.link?.assumingMemoryBound(to: StreamSlot.self)
        // The next slot is no longer in the CPU cache: prefetch it for the next call.
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

    /// Memory of `StreamSlot.valueBytesMax` for the values of the request in `slot`. Written
    /// requests return theirs early, so it is still in the CPU cache for the next request.
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

    /// Frees the values' memory: nghttp2 no longer needs it.
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

    /// Searches all slots: for rare cases only.
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
