/// The symbols that an object file needs from elsewhere. ELF, 64 bits, little-endian (System V ABI,
/// chapter 4): what the compiler writes on Linux.
struct ELFObject {
    let undefinedSymbols: Set<String>

    /// Nil when the bytes are no such object, or point outside of themselves.
    init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]) else { return nil }
        guard let table = Self.integer(bytes, 0x28, 8), let size = Self.integer(bytes, 0x3A, 2),
            var count = Self.integer(bytes, 0x3C, 2)
        else { return nil }
        // With 65,280 sections or more the count stands in the first section's size.
        if count == 0 { count = Self.integer(bytes, table + 0x20, 8) ?? 0 }
        var symbols: Set<String> = []
        for section in 0..<count {
            let header = table + section * size
            guard let type = Self.integer(bytes, header + 0x04, 4) else { return nil }
            guard type == Self.symbolTable else { continue }
            guard let names = Self.undefined(bytes, header: header, sections: table, size: size)
            else { return nil }
            symbols.formUnion(names)
        }
        undefinedSymbols = symbols
    }

    /// SHT_SYMTAB.
    private static let symbolTable = 2
    /// The bytes of an Elf64_Sym.
    private static let symbolSize = 24

    private static func undefined(
        _ bytes: [UInt8], header: Int, sections: Int, size: Int
    ) -> [String]? {
        guard let start = integer(bytes, header + 0x18, 8),
            let length = integer(bytes, header + 0x20, 8),
            let link = integer(bytes, header + 0x28, 4),
            let names = integer(bytes, sections + link * size + 0x18, 8)
        else { return nil }
        var found: [String] = []
        for symbol in stride(from: start, to: start + length, by: symbolSize) {
            guard let name = integer(bytes, symbol, 4), let section = integer(bytes, symbol + 6, 2)
            else { return nil }
            guard section == 0, name != 0, names + name < bytes.count else { continue }
            let end = bytes[(names + name)...].firstIndex(of: 0) ?? bytes.endIndex
            found.append(String(decoding: bytes[(names + name)..<end], as: UTF8.self))
        }
        return found
    }

    private static func integer(_ bytes: [UInt8], _ offset: Int, _ width: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - width else { return nil }
        return (0..<width).reduce(0) {
            $0 | Int(truncatingIfNeeded: bytes[offset + $1]) << (8 * $1)
        }
    }
}
