/// One line of a head or of trailers: `name: value` (RFC 9112, 5).
enum HTTP1FieldLine {
    /// Returns the name in lower case, and the value without surrounding white space.
    static func read(
        _ line: ArraySlice<UInt8>
    ) throws(HTTP1Refusal) -> (name: String, value: String) {
        guard let first = line.first else { throw .badFieldName }
        if first == HTTP1Bytes.space || first == HTTP1Bytes.tab { throw .foldedField }
        guard let colon = line.firstIndex(of: HTTP1Bytes.colon), colon > line.startIndex else {
            throw .badFieldName
        }
        var name: [UInt8] = []
        name.reserveCapacity(colon - line.startIndex)
        for byte in line[..<colon] {
            guard let lowered = HTTP1Bytes.loweredTokenByte(byte) else { throw .badFieldName }
            name.append(lowered)
        }
        var value = line[(colon + 1)...]
        guard value.allSatisfy(HTTP1Bytes.isFieldValueByte) else { throw .badFieldValue }
        while let byte = value.first, byte == HTTP1Bytes.space || byte == HTTP1Bytes.tab {
            value.removeFirst()
        }
        while let byte = value.last, byte == HTTP1Bytes.space || byte == HTTP1Bytes.tab {
            value.removeLast()
        }
        return (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
    }
}
