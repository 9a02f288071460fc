/// Comparison of JSON by value, whatever the text.
///
/// ```swift
/// let one = try JSON(validating: Array(#"{"a":1.0,"b":"\u00fc"}"#.utf8))
/// let other = try JSON(validating: Array(#"{"b":"ü","a":1}"#.utf8))
/// let isSame = one.isSameValue(as: other)  // true, and one == other is false
/// ```
extension JSON {
    /// A hash of the value: different texts of one value have the same hash, in every process.
    package var valueHash: UInt64 { JSONValueHash.hash(of: bytes[...]) }

    /// True if two texts are the same value: strings are compared without their escapes, numbers as
    /// exact numbers, objects in any order. Fast path: the bytes are equal.
    package func isSameValue(as other: JSON) -> Bool {
        bytes == other.bytes
            || valueHash == other.valueHash
                && document.root.canonical == other.document.root.canonical
    }
}

extension JSONView {
    /// A hash of the value: different texts of one value have the same hash, in every process.
    package var valueHash: UInt64 { JSONValueHash.hash(of: raw) }

    /// One text for each value: members are in the order of their names' bytes, escapes are as few
    /// as possible, and each number is written as its digits and a power of ten.
    package var canonical: [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(raw.count)
        writeCanonical(to: &output)
        return output
    }

    private func writeCanonical(to output: inout [UInt8]) {
        switch kind {
        case .object:
            let members = members.map { (name: Array($0.name.utf8), value: $0.value) }
                .sorted { $0.name.lexicographicallyPrecedes($1.name) }
            output.append(ASCII.openBrace)
            for (place, member) in members.enumerated() {
                if place > 0 { output.append(ASCII.comma) }
                Self.write(member.name, to: &output)
                output.append(ASCII.colon)
                member.value.writeCanonical(to: &output)
            }
            output.append(ASCII.closeBrace)
        case .array:
            output.append(ASCII.openBracket)
            for (place, element) in elements.enumerated() {
                if place > 0 { output.append(ASCII.comma) }
                element.writeCanonical(to: &output)
            }
            output.append(ASCII.closeBracket)
        case .string: Self.write(Array((string ?? "").utf8), to: &output)
        case .number: raw.withUnsafeBufferPointer { Self.writeNumber($0[...], to: &output) }
        case .bool, .null: output += raw
        }
    }

    private static func write(_ text: [UInt8], to output: inout [UInt8]) {
        output.append(ASCII.quote)
        text.withUnsafeBufferPointer { JSONText.escape($0, into: &output) }
        output.append(ASCII.quote)
    }

    private static func writeNumber(
        _ spelling: Slice<UnsafeBufferPointer<UInt8>>, to output: inout [UInt8]
    ) {
        // Fast path: an integer whose last digit is not 0 is its own normal form.
        if spelling.last != ASCII.zero, spelling.dropFirst().allSatisfy(ASCII.isDigit),
            spelling.first != ASCII.zero
        {
            output += spelling
            return
        }
        var digits: [UInt8] = []
        let form = JSONDecimal.normalized(spelling) { digits.append(ASCII.zero + $0) }
        if form.isNegative { output.append(ASCII.minus) }
        output += digits.isEmpty ? [ASCII.zero] : digits
        if form.exponent != 0 { output += "e\(form.exponent)".utf8 }
    }
}
