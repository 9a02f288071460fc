/// The characters of RFC 9110 and RFC 3986 that a parser must distinguish.
enum HTTP1Bytes {
    static let cr = UInt8(ascii: "\r")
    static let lf = UInt8(ascii: "\n")
    static let space = UInt8(ascii: " ")
    static let tab = UInt8(ascii: "\t")
    static let colon = UInt8(ascii: ":")

    /// Returns the byte in lower case if a token may contain it (RFC 9110, 5.6.2), else nil.
    static func loweredTokenByte(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): byte
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
        case UInt8(ascii: "!"), UInt8(ascii: "#")...UInt8(ascii: "'"), UInt8(ascii: "*"),
            UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^"),
            UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            byte
        default: nil
        }
    }

    static func isToken(_ bytes: some Collection<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { loweredTokenByte($0) != nil }
    }

    /// True for visible characters, space, tab and bytes from 0x80 (RFC 9110, 5.5).
    static func isFieldValueByte(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != 0x7F || byte == tab
    }

    /// True for bytes allowed in a request target: visible ASCII except `#` (RFC 9112, 3.2).
    static func isTargetByte(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "#")
    }

    /// The value of a hexadecimal digit, or nil.
    static func hexValue(_ byte: UInt8) -> Int? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte) - 0x30
        case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(byte) - 0x61 + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(byte) - 0x41 + 10
        default: nil
        }
    }

    /// True for a host with or without a port (RFC 3986, 3.2). False for an empty text and for user
    /// information (`user@host`).
    static func isAuthority(_ text: some StringProtocol) -> Bool {
        var bytes = Array(text.utf8)[...]
        if bytes.first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return false }
            let address = bytes[(bytes.startIndex + 1)..<end]
            guard !address.isEmpty, address.allSatisfy(isAddressByte) else { return false }
            bytes = bytes[(end + 1)...]
        } else {
            let end = bytes.firstIndex(of: colon) ?? bytes.endIndex
            let name = bytes[..<end]
            guard !name.isEmpty, name.allSatisfy(isHostByte) else { return false }
            bytes = bytes[end...]
        }
        guard let first = bytes.first else { return true }
        let port = bytes.dropFirst()
        return first == colon && port.count <= 5 && port.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func isAddressByte(_ byte: UInt8) -> Bool {
        hexValue(byte) != nil || byte == colon || byte == UInt8(ascii: ".")
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "%"):
            true
        default: false
        }
    }
}
