import CLinux
import CNghttp2

/// Runs ahead of nghttp2 through what came, from frame to frame (RFC 9113, 4.1), and has fetched
/// what the frames' streams will need: by the time of an answer its stream has left the cache, and
/// one after the other each would be waited for.
///
/// It decides nothing: where it is mistaken only time is lost.
struct FrameScout: Hashable {
    private static let headBytes = 9

    /// Of the frame that is under way; 0 in or before a head.
    private(set) var bytesToNextFrame = 0
    /// Bytes of the next frame's head that the last piece ended with.
    private var headCount = 0
    private var payloadLength = 0

    /// The streams of the frames that begin in `bytes`; of one whose head is cut not.
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
            // A head in two pieces: only its length matters.
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
