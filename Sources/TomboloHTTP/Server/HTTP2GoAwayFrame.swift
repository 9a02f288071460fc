/// GOAWAY (RFC 9113, 6.8) as bytes. A session that has failed cannot write this frame itself.
enum HTTP2GoAwayFrame {
    private static let type: UInt8 = 7

    static func bytes(code: UInt32, lastStream: Int32, reason: String) -> [UInt8] {
        var payload = number(UInt32(bitPattern: lastStream))
        payload += number(code)
        payload += reason.utf8
        var frame = Array(number(UInt32(payload.count)).dropFirst())
        frame += [type, 0]
        frame += number(0)
        frame += payload
        return frame
    }

    private static func number(_ value: UInt32) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}
