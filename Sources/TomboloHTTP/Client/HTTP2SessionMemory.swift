import CLinux
import CNghttp2
import Glibc

/// Allocator of one nghttp2 session: it reuses pieces of a few fixed sizes.
///
/// A stream costs nghttp2 about ten allocations; here each is a few loads and stores. All memory
/// returns to the system when the session ends, so a session holds as much as its busiest moment
/// needed. `malloc` serves pieces larger than 4 KiB. On one thread only, like its session.
final class HTTP2SessionMemory {
    private static let pieceMin = 64
    private static let sizesCount = 7
    /// Size of the blocks that are taken from the system and cut into pieces.
    private static let blockBytes = 32_768
    /// Bytes of each piece's header, which holds the index of its size. 16 keep `malloc`'s
    /// alignment.
    private static let headBytes = 16

    private struct State {
        /// Free pieces by size. Each begins with a pointer to the next one.
        var free: UnsafeMutablePointer<UnsafeMutableRawPointer?>
        /// The newest block. Each block begins with a pointer to the one before.
        var blocks: UnsafeMutableRawPointer?
        var next: UnsafeMutableRawPointer?
        var left = 0
    }

    private let state: UnsafeMutablePointer<State>

    init() {
        state = .allocate(capacity: 1)
        let free = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(
            capacity: Self.sizesCount)
        free.initialize(repeating: nil, count: Self.sizesCount)
        state.initialize(to: State(free: free))
    }

    /// nghttp2's session must be deleted before.
    deinit {
        var block = state.pointee.blocks
        while let this = block {
            block = this.load(as: UnsafeMutableRawPointer?.self)
            Glibc.free(this)
        }
        state.pointee.free.deallocate()
        state.deallocate()
    }

    /// Allocation functions for nghttp2. Valid as long as this object lives.
    var functions: nghttp2_mem {
        nghttp2_mem(
            mem_user_data: state,
            malloc: { size, user in HTTP2SessionMemory.allocate(size, user) },
            free: { piece, user in HTTP2SessionMemory.giveBack(piece, user) },
            calloc: { count, size, user in
                let (bytes, isTooLarge) = count.multipliedReportingOverflow(by: size)
                guard !isTooLarge, let piece = HTTP2SessionMemory.allocate(bytes, user) else {
                    return nil
                }
                memset(piece, 0, bytes)
                return piece
            },
            realloc: { piece, size, user in HTTP2SessionMemory.resize(piece, size, user) })
    }

    @inline(__always)
    private static func sizeIndex(_ bytes: Int) -> Int {
        bytes <= pieceMin
            ? 0
            : Int.bitWidth - (bytes - 1).leadingZeroBitCount - pieceMin.trailingZeroBitCount
    }

    private static func allocate(
        _ bytes: Int, _ user: UnsafeMutableRawPointer?
    ) -> UnsafeMutableRawPointer? {
        guard bytes <= Int.max - headBytes else { return nil }
        let index = sizeIndex(bytes + headBytes)
        guard index < sizesCount, let state = user?.assumingMemoryBound(to: State.self) else {
            guard let piece = malloc(bytes + headBytes) else { return nil }
            (piece + 8).storeBytes(of: sizesCount, as: Int.self)
            return piece + headBytes
        }
        if let piece = state.pointee.free[index] {
            let next = piece.load(as: UnsafeMutableRawPointer?.self)
            state.pointee.free[index] = next
            // The next piece is no longer in the CPU cache: prefetch it for the next call.
            tombolo_prefetch(next)
            return piece + headBytes
        }
        let size = pieceMin << index
        if state.pointee.left < size, !addBlock(state) { return nil }
        guard let piece = state.pointee.next else { return nil }
        state.pointee.next = piece + size
        state.pointee.left -= size
        (piece + 8).storeBytes(of: index, as: Int.self)
        return piece + headBytes
    }

    private static func addBlock(_ state: UnsafeMutablePointer<State>) -> Bool {
        guard let block = malloc(blockBytes) else { return false }
        block.storeBytes(of: state.pointee.blocks, as: UnsafeMutableRawPointer?.self)
        state.pointee.blocks = block
        state.pointee.next = block + headBytes
        state.pointee.left = blockBytes - headBytes
        return true
    }

    private static func giveBack(
        _ piece: UnsafeMutableRawPointer?, _ user: UnsafeMutableRawPointer?
    ) {
        guard let piece else { return }
        let start = piece - headBytes
        let index = (start + 8).load(as: Int.self)
        guard index < sizesCount, let state = user?.assumingMemoryBound(to: State.self) else {
            return free(start)
        }
        start.storeBytes(of: state.pointee.free[index], as: UnsafeMutableRawPointer?.self)
        state.pointee.free[index] = start
    }

    private static func resize(
        _ piece: UnsafeMutableRawPointer?, _ bytes: Int, _ user: UnsafeMutableRawPointer?
    ) -> UnsafeMutableRawPointer? {
        guard let piece else { return allocate(bytes, user) }
        let start = piece - headBytes
        let index = (start + 8).load(as: Int.self)
        guard index < sizesCount else {
            guard let larger = realloc(start, bytes + headBytes) else { return nil }
            return larger + headBytes
        }
        let capacity = (pieceMin << index) - headBytes
        if bytes <= capacity { return piece }
        guard let larger = allocate(bytes, user) else { return nil }
        memcpy(larger, piece, capacity)
        giveBack(piece, user)
        return larger
    }
}
