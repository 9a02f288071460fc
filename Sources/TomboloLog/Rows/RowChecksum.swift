import CLinux

/// The CRC32C over all of a row: its table, its key, its bytes. Each row begins with it.
///
/// Of 200 single flipped bits in a database SQLite itself noticed 13; this notices any burst of up
/// to 32 bits in a row. It tells damage from health, not an attacker from a friend. Numbers are
/// hashed as the machine holds them: both of ours are little-endian.
package struct RowChecksum {
    /// Where a row belongs: the same bytes in another table have another sum.
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

    /// The bytes that a row begins with.
    static let bytes = MemoryLayout<UInt32>.size

    /// As it stands so far.
    package private(set) var value: UInt32

    /// That of no bytes.
    package init(_ table: Table) { value = table.rawValue }

    /// Takes in numbers without padding.
    @inline(__always)
    package mutating func add<Numbers: BitwiseCopyable>(_ numbers: Numbers) {
        value = withUnsafeBytes(of: numbers) {
            tombolo_crc32c(value, $0.baseAddress, $0.count)
        }
    }

    /// Takes in bytes.
    @inline(__always)
    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        value = tombolo_crc32c(value, bytes.baseAddress, bytes.count)
    }

    /// Over the row at `key` but the sum itself.
    @inline(__always)
    private static func sum(_ table: Table, _ key: Int64, _ row: UnsafeRawBufferPointer) -> UInt32 {
        var sum = RowChecksum(table)
        sum.add(key)
        sum.add(UnsafeRawBufferPointer(rebasing: row[bytes...]))
        return sum.value
    }

    /// Whether the row at `key` is as it was written.
    @inline(__always)
    static func isRight(_ table: Table, _ key: Int64, _ row: RawSpan) -> Bool {
        guard row.byteCount >= bytes else { return false }
        return row.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) == sum(table, key, $0) }
    }

    /// The numbers behind the sum of the row at `key`; nil where the row is damaged.
    @inline(__always)
    static func numbers<Numbers: BitwiseCopyable>(
        _ table: Table, _ key: Int64, _ row: RawSpan, as type: Numbers.Type = Numbers.self
    ) -> Numbers? {
        guard row.byteCount >= bytes + MemoryLayout<Numbers>.size, isRight(table, key, row) else {
            return nil
        }
        return row.unsafeLoadUnaligned(fromByteOffset: bytes, as: Numbers.self)
    }

    /// Writes the sum into a row that is complete but for it.
    @inline(__always)
    static func seal(_ table: Table, _ key: Int64, _ row: UnsafeMutableRawBufferPointer) {
        row.storeBytes(of: sum(table, key, UnsafeRawBufferPointer(row)), as: UInt32.self)
    }
}
