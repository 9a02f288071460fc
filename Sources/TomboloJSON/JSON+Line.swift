extension JSON {
    /// The same value on one line, for formats with one value per line. Line breaks in a JSON text
    /// are only between tokens (RFC 8259, section 2), so a space can replace them.
    ///
    /// - Parameter bytes: one valid value.
    package static func line(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(where: { $0 == 0x0a || $0 == 0x0d }) else { return bytes }
        return bytes.map { $0 == 0x0a || $0 == 0x0d ? 0x20 : $0 }
    }
}
