import CLinux

/// CRC32C over a row's table, key and bytes. Every row begins with this checksum.
///
/// In an experiment SQLite itself noticed 13 of 200 single flipped bits in a database; the checksum
/// notices any burst of up to 32 bits in a row. It detects damage, not manipulation. Numbers are
/// hashed in native byte order: all supported machines are little-endian.
package struct RowChecksum {
    /// The table of a row. It is part of the checksum, so that a row in a wrong table is noticed.
    package enum Table: UInt32 {
        case log = 1
        case fact = 2
        case head = 3
        case record = 4
        case keys = 5
        case tenant = 6
        case meta = 7
        case retired = 8
        case cut = 9
        case block = 10
        case snapshot = 11
        case waypoint = 12
        case tally = 13
        case factBlock = 14
        case factIndex = 15
    }

    /// Size of the checksum at the start of a row.
    static let bytes = MemoryLayout<UInt32>.size

    /// The checksum so far.
    package private(set) var value: UInt32

    /// Starts the checksum of a row in `table`.
    package init(_ table: Table) { value = table.rawValue }

    /// Adds numbers, which must have no padding.
    @inline(__always)
    package mutating func add<Numbers: BitwiseCopyable>(_ numbers: Numbers) {
        value = withUnsafeBytes(of: numbers) {
            tombolo_crc32c(value, $0.baseAddress, $0.count)
        }
    }

    /// Adds bytes.
    @inline(__always)
    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        value = tombolo_crc32c(value, bytes.baseAddress, bytes.count)
    }

    /// Checksum of the row at `key`, without the stored checksum itself.
    @inline(__always)
    private static func sum(_ table: Table, _ key: Int64, _ row: UnsafeRawBufferPointer) -> UInt32 {
        var sum = RowChecksum(table)
        sum.add(key)
        sum.add(UnsafeRawBufferPointer(rebasing: row[bytes...]))
        return sum.value
    }

    /// True if the row at `key` is undamaged.
    @inline(__always)
    static func isRight(_ table: Table, _ key: Int64, _ row: RawSpan) -> Bool {
        guard row.byteCount >= bytes else { return false }
        return row.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) == sum(table, key, $0) }
    }

    /// The numbers after the checksum of the row at `key`; nil if the row is damaged.
    @inline(__always)
    static func numbers<Numbers: BitwiseCopyable>(
        _ table: Table, _ key: Int64, _ row: RawSpan, as type: Numbers.Type = Numbers.self
    ) -> Numbers? {
        guard row.byteCount >= bytes + MemoryLayout<Numbers>.size, isRight(table, key, row) else {
            return nil
        }
        return row.unsafeLoadUnaligned(fromByteOffset: bytes, as: Numbers.self)
    }

    /// Writes the checksum into a row that is complete otherwise.
    @inline(__always)
    static func seal(_ table: Table, _ key: Int64, _ row: UnsafeMutableRawBufferPointer) {
        row.storeBytes(of: sum(table, key, UnsafeRawBufferPointer(row)), as: UInt32.self)
    }
}
