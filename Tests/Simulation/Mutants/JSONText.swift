/// The text of a JSON value in which a mutant changes one member and leaves all else as it is.
///
/// A member is found by its name alone, the first of that name; it is for what the relay writes,
/// which escapes nothing in the values that are looked for.
struct JSONText {
    private(set) var bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Where the value of a member stands; nil where there is none.
    private func place(_ name: String) -> Range<Int>? {
        let label = Array("\"\(name)\":".utf8)
        guard bytes.count > label.count else { return nil }
        for start in 0..<(bytes.count - label.count) where bytes[start] == label[0] {
            guard bytes[start...].starts(with: label) else { continue }
            let first = start + label.count
            return first..<end(ofValueAt: first)
        }
        return nil
    }

    private func end(ofValueAt first: Int) -> Int {
        let (quote, comma) = (UInt8(ascii: "\""), UInt8(ascii: ","))
        var depth = 0
        var isInString = false
        for index in first..<bytes.count {
            let byte = bytes[index]
            if byte == quote {
                isInString.toggle()
            } else if !isInString {
                switch byte {
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    if depth == 0 { return index }
                    depth -= 1
                case comma where depth == 0: return index
                default: break
                }
            }
        }
        return bytes.count
    }

    /// The value of a member, as it is written.
    subscript(name: String) -> String? {
        place(name).map { String(decoding: bytes[$0], as: UTF8.self) }
    }

    func integer(_ name: String) -> Int64? { self[name].flatMap { Int64($0) } }

    /// Gives a member that is there another value.
    mutating func set(_ name: String, to value: String) {
        guard let place = place(name) else { return }
        bytes.replaceSubrange(place, with: Array(value.utf8))
    }

    /// Takes a member away that is there and is not the first of its object.
    mutating func remove(_ name: String) {
        guard let place = place(name) else { return }
        let label = "\"\(name)\":".utf8.count
        guard place.lowerBound > label,
            bytes[place.lowerBound - label - 1] == UInt8(ascii: ",")
        else { return }
        bytes.removeSubrange((place.lowerBound - label - 1)..<place.upperBound)
    }
}
