/// HTTP/2 by hand (RFC 9113, 4.1): frames as bytes, and bytes as frames.
enum RawHTTP2 {
    struct Frame: Equatable {
        var type: UInt8
        var flags: UInt8
        var stream: UInt32
        var payload: [UInt8]

        /// Four bytes of the payload as a number.
        func number(at offset: Int) -> UInt32 {
            payload[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    static let data: UInt8 = 0
    static let headers: UInt8 = 1
    static let reset: UInt8 = 3
    static let settings: UInt8 = 4
    static let ping: UInt8 = 6
    static let goAway: UInt8 = 7
    static let windowUpdate: UInt8 = 8
    static let continuation: UInt8 = 9

    /// The preface and empty SETTINGS.
    static let preface =
        Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frame(settings, 0, 0, [])

    static func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8])
        -> [UInt8]
    {
        let length = payload.count
        return [UInt8(length >> 16 & 0xFF), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF)]
            + [type, flags] + bytes(stream) + payload
    }

    static func bytes(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(number >> $0 & 0xFF) }
    }

    /// `:method`, `:scheme http`, `:path /` and `:authority a` (RFC 7541, A), then `fields` without
    /// indexing.
    static func head(_ method: String = "GET", _ fields: [(String, String)] = []) -> [UInt8] {
        var block: [UInt8] = [method == "GET" ? 0x82 : 0x83, 0x86, 0x84, 0x01, 1, 0x61]
        for (name, value) in fields {
            block.append(0)
            block += length(name.utf8.count) + Array(name.utf8)
            block += length(value.utf8.count) + Array(value.utf8)
        }
        return block
    }

    /// An integer with a prefix of seven bits (RFC 7541, 5.1).
    private static func length(_ count: Int) -> [UInt8] {
        guard count >= 127 else { return [UInt8(count)] }
        var bytes: [UInt8] = [127]
        var rest = count - 127
        while rest >= 128 {
            bytes.append(UInt8(rest & 127 | 128))
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    /// A whole GET.
    static func request(_ stream: UInt32) -> [UInt8] { frame(headers, 5, stream, head()) }

    /// The head of a POST whose body follows.
    static func post(_ stream: UInt32) -> [UInt8] { frame(headers, 4, stream, head("POST")) }

    /// All complete frames.
    static func frames(_ bytes: [UInt8]) -> [Frame] {
        var frames: [Frame] = []
        var rest = bytes[...]
        while rest.count >= 9 {
            let header = Array(rest.prefix(9))
            let length = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
            guard rest.count >= 9 + length else { break }
            let stream = header[5...].reduce(0) { $0 << 8 | UInt32($1) }
            rest = rest.dropFirst(9)
            frames.append(
                Frame(
                    type: header[3], flags: header[4], stream: stream,
                    payload: Array(rest.prefix(length))))
            rest = rest.dropFirst(length)
        }
        return frames
    }
}

extension Talker {
    var frames: [RawHTTP2.Frame] { RawHTTP2.frames(received) }

    /// Waits until a frame of this kind has come; nil if the connection ended before.
    func frame(_ type: UInt8, where matches: (RawHTTP2.Frame) -> Bool = { _ in true }) async
        -> RawHTTP2.Frame?
    {
        while true {
            if let found = frames.first(where: { $0.type == type && matches($0) }) { return found }
            if end != nil { return nil }
            _ = await receive(count: received.count + 1)
        }
    }
}
