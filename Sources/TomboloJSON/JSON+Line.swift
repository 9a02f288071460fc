extension JSON {
    /// The same JSON on one line, for formats with one value in a line. Line breaks can only be
    /// between tokens (RFC 8259, section 2), so spaces can replace them.
    ///
    /// - Parameter bytes: one valid JSON value.
    package static func line(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(where: { $0 == 0x0a || $0 == 0x0d }) else { return bytes }
        return bytes.map { $0 == 0x0a || $0 == 0x0d ? 0x20 : $0 }
    }
}
