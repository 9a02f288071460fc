import CLinux

/// The CRC32C over all of a row, its numbers first and then its bytes.
///
/// Of 200 single flipped bits in a database SQLite itself noticed 13; this notices any burst of up
/// to 32 bits in a row. It tells damage from health, not an attacker from a friend. Numbers are
/// hashed as the machine holds them: both of ours are little-endian.
struct RowChecksum {
    /// Where a row belongs: the same bytes in another table have another sum.
    enum Table: UInt32 {
        case log = 1
        case fact = 2
        case head = 3
        case record = 4
        case idempotency = 5
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

    /// As it stands so far.
    private(set) var value: UInt32

    init(_ table: Table) { value = table.rawValue }

    @inline(__always)
    mutating func add<Numbers: BitwiseCopyable>(_ numbers: Numbers) {
        value = withUnsafeBytes(of: numbers) {
            tombolo_crc32c(value, $0.baseAddress, $0.count)
        }
    }

    @inline(__always)
    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        value = tombolo_crc32c(value, bytes.baseAddress, bytes.count)
    }

    /// As the column `crc` holds it: signed, so that SQLite needs four bytes.
    var stored: Int64 { Int64(Int32(bitPattern: value)) }
}
