/// Tracks the frame boundaries in an HTTP/2 client's bytes, to tell a peer that stops in the middle
/// of a frame from an idle peer. Pure. It validates PRIORITY frames only, because nghttp2 ignores
/// them when RFC 7540's priorities are switched off. nghttp2 validates all other frames.
package struct HTTP2FrameTracker {
    package init() {}

    /// Bytes of the connection preface that are still missing. Frames follow it.
    private var prefaceLeft = 24
    private var header: [UInt8] = []
    private var payloadLeft = 0
    private var isData = false
    /// True after HEADERS without END_HEADERS: CONTINUATION frames must follow.
    private var isHeadOpen = false
    /// Number of complete units: a unit is a frame, or HEADERS with its CONTINUATION frames.
    package private(set) var unitsComplete: UInt64 = 0
    /// Number of frames that are neither HEADERS nor DATA with content or END_STREAM.
    package private(set) var framesIdle = 0
    /// The code with which the connection must end (RFC 9113, 6.3): PROTOCOL_ERROR for PRIORITY on
    /// stream 0, FRAME_SIZE_ERROR for PRIORITY with a length other than 5.
    package private(set) var violation: UInt32?

    private static let headerBytes = 9

    /// True if the peer has begun a unit and not finished it. DATA frames do not count, because
    /// bodies have a minimum rate of their own.
    package var isWithinUnit: Bool {
        prefaceLeft > 0 || !header.isEmpty || isHeadOpen || payloadLeft > 0 && !isData
    }

    package mutating func receive(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        let preface = min(prefaceLeft, rest.count)
        prefaceLeft -= preface
        rest = rest.dropFirst(preface)
        while !rest.isEmpty {
            if payloadLeft > 0 {
                let count = min(payloadLeft, rest.count)
                payloadLeft -= count
                rest = rest.dropFirst(count)
                if payloadLeft == 0 { endFrame() }
                continue
            }
            let count = min(Self.headerBytes - header.count, rest.count)
            header.append(contentsOf: rest.prefix(count))
            rest = rest.dropFirst(count)
            if header.count == Self.headerBytes { beginFrame() }
        }
    }

    /// Reads a frame's header: length (24 bits), type, flags, stream (RFC 9113, 4.1).
    private mutating func beginFrame() {
        payloadLeft = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
        let (type, flags) = (header[3], header[4])
        if type == 2 {
            // The first bit of a stream id is reserved.
            judgePriority(isOnStream: header[5] & 0x7F != 0 || header[6...].contains { $0 != 0 })
        }
        header.removeAll(keepingCapacity: true)
        isData = type == 0
        if type != 1, !isData || payloadLeft == 0 && flags & 1 == 0 { framesIdle += 1 }
        // The flag END_HEADERS of HEADERS or CONTINUATION ends the head.
        if type == 1 || type == 9 { isHeadOpen = flags & 4 == 0 }
        if payloadLeft == 0 { endFrame() }
    }

    private mutating func judgePriority(isOnStream: Bool) {
        if !isOnStream { violation = 1 } else if payloadLeft != 5 { violation = 6 }
    }

    private mutating func endFrame() {
        isData = false
        if !isHeadOpen { unitsComplete += 1 }
    }
}
