/// Turns the text of a JSON array into lines, one for each element, piece by piece.
///
/// It only finds the ends of elements; the parser of a line checks whether the element is JSON. An
/// empty element, as between two commas, becomes the line `,`, which is invalid.
struct ElementLines {
    private enum Place {
        case before, inside, inString, behind, broken
    }

    private var place = Place.before
    /// Number of open objects and arrays within the element.
    private var depth = 0
    private var isEscaped = false
    private var hasText = false
    private var hasElements = false

    /// Why the text so far is not a complete array; nil if it is.
    var fault: String? {
        switch place {
        case .behind: nil
        case .before, .broken:
            "The body is not one JSON array. Send [EVENT, EVENT, …]; one event without the brackets "
                + "is application/cloudevents+json."
        case .inside, .inString:
            "The array does not end. The elements before are answered; send the rest again."
        }
    }

    mutating func lines(of piece: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(piece.count + 2)
        for byte in piece {
            switch place {
            case .before:
                place = byte == UInt8(ascii: "[") ? .inside : Self.isSpace(byte) ? .before : .broken
            case .behind: place = Self.isSpace(byte) ? .behind : .broken
            case .broken: return output
            case .inString: string(byte, &output)
            case .inside: element(byte, &output)
            }
        }
        return output
    }

    private mutating func string(_ byte: UInt8, _ output: inout [UInt8]) {
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            place = .inside
        }
        // A line end inside a text is invalid; another control character keeps it invalid.
        output.append(Self.endsLine(byte) ? 0x01 : byte)
    }

    private mutating func element(_ byte: UInt8, _ output: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: ",") where depth == 0:
            end(&output)
            hasElements = true
            return
        case UInt8(ascii: "]") where depth == 0:
            if hasText || hasElements { end(&output) }
            place = .behind
            return
        case UInt8(ascii: "\""): place = .inString
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth = max(0, depth - 1)
        default: break
        }
        if Self.isSpace(byte) {
            // Between elements it would count as a part of one.
            if depth > 0 { output.append(UInt8(ascii: " ")) }
            return
        }
        hasText = true
        output.append(byte)
    }

    private mutating func end(_ output: inout [UInt8]) {
        if !hasText { output.append(UInt8(ascii: ",")) }
        output.append(UInt8(ascii: "\n"))
        hasText = false
    }

    private static func endsLine(_ byte: UInt8) -> Bool { byte == 0x0a || byte == 0x0d }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || endsLine(byte)
    }
}
