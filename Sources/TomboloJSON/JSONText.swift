/// Removes and adds the escapes of strings, and compares names by their UTF-8 bytes without
/// escapes, never by Unicode equivalence (RFC 8259 section 8.3).
enum JSONText {
    /// Appends `content` without its escapes to `output`. The scanner has checked the escapes.
    static func unescape(_ content: UnsafeBufferPointer<UInt8>, into output: inout [UInt8]) {
        var position = 0
        while position < content.count {
            let byte = content[position]
            position += 1
            guard byte == ASCII.backslash else {
                output.append(byte)
                continue
            }
            let escaped = content[position]
            position += 1
            switch escaped {
            case UInt8(ascii: "b"): output.append(ASCII.backspace)
            case UInt8(ascii: "f"): output.append(ASCII.formFeed)
            case UInt8(ascii: "n"): output.append(ASCII.lineFeed)
            case UInt8(ascii: "r"): output.append(ASCII.carriageReturn)
            case UInt8(ascii: "t"): output.append(ASCII.tab)
            case UInt8(ascii: "u"):
                let scalar = scalar(in: content, at: &position)
                if scalar.isASCII {
                    output.append(UInt8(truncatingIfNeeded: scalar.value))
                } else {
                    output.append(contentsOf: Unicode.UTF8.encode(scalar).unsafelyUnwrapped)
                }
            default: output.append(escaped)
            }
        }
    }

    /// Length of an escape in bytes, from its backslash on: 2, 6, or 12 for a surrogate pair.
    static func escapeLength(in text: UnsafeBufferPointer<UInt8>, at position: Int) -> Int {
        guard text[position + 1] == UInt8(ascii: "u") else { return 2 }
        // D800 to DBFF begins a pair. The scanner accepts only whole pairs.
        let isFirst =
            text[position + 2] | 0x20 == UInt8(ascii: "d")
            && [UInt8(ascii: "8"), UInt8(ascii: "9"), UInt8(ascii: "a"), UInt8(ascii: "b")]
                .contains(text[position + 3] | 0x20)
        return isFirst ? 12 : 6
    }

    /// Appends UTF-8 text with only those escapes that RFC 8259 section 7 requires.
    static func escape(_ text: UnsafeBufferPointer<UInt8>, into output: inout [UInt8]) {
        guard hasEscaped(text) else {
            output.append(contentsOf: text)
            return
        }
        for byte in text {
            switch byte {
            case ASCII.quote, ASCII.backslash: output += [ASCII.backslash, byte]
            case ASCII.backspace: output += "\\b".utf8
            case ASCII.formFeed: output += "\\f".utf8
            case ASCII.lineFeed: output += "\\n".utf8
            case ASCII.carriageReturn: output += "\\r".utf8
            case ASCII.tab: output += "\\t".utf8
            case 0..<ASCII.space:
                output += (byte < 16 ? "\\u000" : "\\u00").utf8
                output += String(byte, radix: 16).utf8
            default: output.append(byte)
            }
        }
    }

    /// True if a byte must be escaped. Checks eight bytes at a time, because few texts have such a
    /// byte.
    static func hasEscaped(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let low: UInt64 = 0x0101_0101_0101_0101
        let high: UInt64 = 0x8080_8080_8080_8080
        let bytes = UnsafeRawBufferPointer(text)
        var found: UInt64 = 0
        var offset = 0
        while offset + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let quote = word ^ low &* UInt64(ASCII.quote)
            let backslash = word ^ low &* UInt64(ASCII.backslash)
            found |= (word &- low &* UInt64(ASCII.space)) & ~word
            found |= (quote &- low) & ~quote | (backslash &- low) & ~backslash
            offset += 8
        }
        while offset < bytes.count {
            if isEscaped(bytes[offset]) { return true }
            offset += 1
        }
        return found & high != 0
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < ASCII.space || byte == ASCII.quote || byte == ASCII.backslash
    }

    /// Parses `XXXX` or `XXXX\uXXXX`.
    static func scalar(
        in content: UnsafeBufferPointer<UInt8>, at position: inout Int
    ) -> Unicode.Scalar {
        func unit() -> UInt32 {
            var unit: UInt32 = 0
            for _ in 0..<4 {
                unit = unit << 4 | UInt32(ASCII.hexadecimal(content[position]) ?? 0)
                position += 1
            }
            return unit
        }
        let first = unit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        position += 2
        let second = unit()
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)) ?? "\u{FFFD}"
    }

    /// Negative if `left` comes before `right`, 0 if they are equal, else positive. Shorter texts
    /// come first, because any total order is enough.
    static func compare(
        _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>
    ) -> Int {
        guard left.count == right.count else { return left.count - right.count }
        for index in 0..<left.count where left[index] != right[index] {
            return Int(left[index]) - Int(right[index])
        }
        return 0
    }

    /// Skips plain ASCII characters, eight at a time, up to the next other byte: a quote, a
    /// backslash, a control character, or no ASCII. If fewer than eight bytes are left, it may stop
    /// earlier.
    @inline(__always)
    static func plainEnd(of text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let raw = UnsafeRawBufferPointer(text)
        var position = start
        while position &+ 8 <= text.count {
            let word = UInt64(
                littleEndian: raw.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            // Set the top bit of each byte that is a quote, a backslash, below space, or not ASCII.
            // A borrow can also mark bytes above a marked one, but none below, so the lowest mark
            // is right.
            let quote = word ^ (ones &* UInt64(ASCII.quote))
            let backslash = word ^ (ones &* UInt64(ASCII.backslash))
            let below = (word &- ones &* UInt64(ASCII.space)) & ~word
            let equal = ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash)
            let special = (below | equal | word) & (ones &* 0x80)
            if special != 0 { return position &+ special.trailingZeroBitCount / 8 }
            position &+= 8
        }
        return position
    }
}
