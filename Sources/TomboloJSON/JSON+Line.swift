extension JSON {
    /// The same value on one line: line breaks of a JSON text stand only between tokens (RFC 8259,
    /// section 2), where a space says the same. For formats that give each value a line.
    ///
    /// - Parameter bytes: one valid value, as somebody wrote it.
    package static func line(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(where: { $0 == 0x0a || $0 == 0x0d }) else { return bytes }
        return bytes.map { $0 == 0x0a || $0 == 0x0d ? 0x20 : $0 }
    }
}
