import CLinux
import CNghttp2

/// Scans received bytes for frame heads (RFC 9113, 4.1) before nghttp2 parses them, and prefetches
/// the state of the frames' streams. When an answer comes, its stream's state is no longer in the
/// CPU cache. Prefetching starts all loads early, so their waiting times overlap.
///
/// If the scan is wrong, it costs time only: nothing else depends on it.
struct FrameScout: Hashable {
    private static let headBytes = 9

    /// Bytes left of the current frame; 0 in or before a frame head.
    private(set) var bytesToNextFrame = 0
    /// Bytes of an incomplete frame head at the end of the last piece.
    private var headCount = 0
    private var payloadLength = 0

    /// Prefetches the streams of the frames that begin in `bytes`. Skips a frame whose head is
    /// split between two pieces.
    mutating func run(through bytes: UnsafeRawBufferPointer, _ session: OpaquePointer?) {
        var offset = 0
        while offset < bytes.count {
            if bytesToNextFrame > 0 {
                let count = min(bytesToNextFrame, bytes.count - offset)
                bytesToNextFrame -= count
                offset += count
                continue
            }
            if headCount == 0, bytes.count - offset >= Self.headBytes {
                visit(bytes, at: offset, session)
                offset += Self.headBytes
                continue
            }
            // The head is split in two pieces: read only its length (the first 3 bytes).
            if headCount < 3 { payloadLength = payloadLength << 8 | Int(bytes[offset]) }
            headCount += 1
            offset += 1
            guard headCount == Self.headBytes else { continue }
            bytesToNextFrame = payloadLength
            headCount = 0
            payloadLength = 0
        }
    }

    private mutating func visit(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, _ session: OpaquePointer?
    ) {
        let first = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self).bigEndian
        bytesToNextFrame = Int(first >> 8)
        guard let session, first & 0xFF == NGHTTP2_HEADERS.rawValue else { return }
        let id = bytes.loadUnaligned(fromByteOffset: offset + 5, as: UInt32.self).bigEndian
        tombolo_prefetch(
            nghttp2_session_get_stream_user_data(session, Int32(id & 0x7FFF_FFFF)))
    }
}
