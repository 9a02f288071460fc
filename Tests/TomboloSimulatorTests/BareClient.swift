import TomboloHTTP
import TomboloLoop

/// HTTP/2 by hand over TLS (RFC 9113, 4.1): for what no client here would ever send.
final class BareClient: ByteStreamOwner, @unchecked Sendable {  // used on its loop only
    private let connection: Connection
    private let parking: Parking
    private var unsent: [UInt8] = []
    private var received: [UInt8] = []
    private var hasEnded = false

    /// Connects without ALPN, and says the preface.
    init(port: Int, trusting ca: [UInt8], on loop: EpollLoop) async throws {
        let tls = try TLSClientConfiguration(
            trust: .certificates(ca), applicationProtocols: [])
        connection = try await Connection.dial(
            host: "127.0.0.1", port: port, tls: tls, on: loop, within: .seconds(10))
        parking = Parking(loop)
        connection.handOver(to: self)
        connection.resumeReading()
        send(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + Self.frame(4, 0, stream: 0, []))
    }

    func close() { connection.abort() }

    /// A POST with these fields and no `:authority`; answers the first byte of the answer's head,
    /// which is the index of its status in HPACK's table (RFC 7541, A), and 0 for a reset.
    func post(
        _ path: String, _ fields: [(String, String)], _ body: String
    ) async -> UInt8? {
        // :method POST, :scheme https, and :path as a literal.
        var block: [UInt8] = [0x83, 0x87, 0x04] + Self.literal(path)
        for (name, value) in fields { block += [0] + Self.literal(name) + Self.literal(value) }
        send(Self.frame(1, 4, stream: 1, block) + Self.frame(0, 1, stream: 1, Array(body.utf8)))
        while true {
            if let head = answerHead { return head }
            guard !hasEnded else { return nil }
            await parking.park()
        }
    }

    private var answerHead: UInt8? {
        var rest = received[...]
        while rest.count >= 9 {
            let head = Array(rest.prefix(9))
            let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            guard rest.count >= 9 + length else { return nil }
            if head[3] == 1 { return rest.dropFirst(9).first }
            // RST_STREAM or GOAWAY: there will be no head.
            if head[3] == 3 || head[3] == 7 { return 0 }
            rest = rest.dropFirst(9 + length)
        }
        return nil
    }

    private static func frame(
        _ type: UInt8, _ flags: UInt8, stream: UInt8, _ payload: [UInt8]
    ) -> [UInt8] {
        let length = payload.count
        return [UInt8(length >> 16), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), type, flags]
            + [0, 0, 0, stream] + payload
    }

    /// A string, not Huffman-coded (RFC 7541, 5.2), with its length in a prefix of seven bits.
    private static func literal(_ text: String) -> [UInt8] {
        let count = text.utf8.count
        guard count >= 127 else { return [UInt8(count)] + Array(text.utf8) }
        var length: [UInt8] = [127]
        var rest = count - 127
        while rest >= 128 {
            length.append(UInt8(rest & 127 | 128))
            rest >>= 7
        }
        return length + [UInt8(rest)] + Array(text.utf8)
    }

    private func send(_ bytes: [UInt8]) {
        unsent += bytes
        connection.wantsOutput()
    }

    func opened() {}

    func received(_ bytes: UnsafeRawBufferPointer) {
        received += bytes
        parking.unpark()
    }

    func fillOutput(_ output: OutputBuffer) {
        guard !unsent.isEmpty else { return }
        output.append(unsent[...])
        unsent = []
    }

    func inputEnded() {
        hasEnded = true
        parking.unpark()
    }

    func closed(_ error: ConnectionError?) {
        hasEnded = true
        parking.unpark()
    }
}
