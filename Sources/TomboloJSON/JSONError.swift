/// What is wrong with a JSON text, and where.
package struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of fault. Later versions may add kinds.
    package enum Code: String, Hashable, Sendable, CaseIterable {
        /// The text ends inside a value, or has no value.
        case unexpectedEnd
        /// A byte that is not allowed at this place.
        case unexpectedByte
        /// A number that RFC 8259 section 6 does not allow (`01`, `1.`, `-`, `1e`), or that
        /// `JSONLimits.numbersFit` refuses.
        case invalidNumber
        /// A backslash in a string with an escape that RFC 8259 section 7 does not allow.
        case invalidEscape
        /// Half of a UTF-16 surrogate pair (`\ud83d` alone). It is not a character, and decoders
        /// treat it differently.
        case loneSurrogate
        /// Bytes that are not UTF-8 (RFC 3629).
        case invalidUTF8
        /// A name that the object already has. Names are compared without their escapes.
        case duplicateKey
        /// Nesting deeper than `JSONLimits.depthMax`.
        case tooDeep
        /// More bytes than `JSONLimits.bytesMax`.
        case tooLong
        /// Something other than white space follows the value.
        case trailingBytes
        /// An unescaped byte below 0x20 in a string.
        case controlCharacter
    }

    /// The kind of fault, for programs.
    package let code: Code

    /// Number of bytes before the fault.
    package let offset: Int

    /// The fault's line, from 1. Lines end with a line feed.
    package let line: Int

    /// The fault's column, from 1, in Unicode scalars (not bytes).
    package let column: Int

    /// The fault and its remedy as text for people, without the place.
    package let message: String

    init(_ code: Code, at offset: Int, in text: UnsafeBufferPointer<UInt8>, _ message: String) {
        let place = JSONPlace(offset: offset, in: text)
        self.code = code
        self.offset = offset
        self.line = place.line
        self.column = place.column
        self.message = message
    }

    /// The message with its place: `line 3, column 14: …`.
    package var description: String { "line \(line), column \(column): \(message)" }
}

/// Line and column of an offset. They are computed only for an error or for `JSONView.position`.
struct JSONPlace {
    let line: Int
    let column: Int

    /// Reads the text up to `offset`, so do not call it for every value of a large document.
    init(offset: Int, in text: UnsafeBufferPointer<UInt8>) {
        var line = 1
        var column = 1
        for byte in text[..<min(offset, text.count)] {
            if byte == ASCII.lineFeed {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                // Continuation bytes of UTF-8 belong to the character before them.
                column += 1
            }
        }
        self.line = line
        self.column = column
    }
}
