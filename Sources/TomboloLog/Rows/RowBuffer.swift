import TomboloEventLog

/// A reusable buffer in which rows are encoded, one at a time.
struct RowBuffer: ~Copyable {
    private var start: UnsafeMutableRawPointer
    private var capacity: Int

    init() {
        capacity = 4_096
        start = .allocate(byteCount: capacity, alignment: 8)
    }

    deinit { start.deallocate() }

    /// `count` uninitialized bytes, valid until the next call.
    @inline(__always)
    mutating func bytes(_ count: Int) -> UnsafeMutableRawBufferPointer {
        if count > capacity { grow(count) }
        return UnsafeMutableRawBufferPointer(start: start, count: count)
    }

    /// The row at `key`: its checksum, `numbers` (must have no padding), then `rest`. Valid until
    /// the next call.
    @inline(__always)
    mutating func row<Numbers: BitwiseCopyable>(
        _ table: RowChecksum.Table, _ key: Int64, _ numbers: Numbers,
        _ rest: UnsafeRawBufferPointer = .init(start: nil, count: 0)
    ) -> UnsafeRawBufferPointer {
        let size = RowChecksum.bytes + MemoryLayout<Numbers>.size
        let row = bytes(size + rest.count)
        row.storeBytes(of: numbers, toByteOffset: RowChecksum.bytes, as: Numbers.self)
        UnsafeMutableRawBufferPointer(rebasing: row[size...]).copyMemory(from: rest)
        RowChecksum.seal(table, key, row)
        return UnsafeRawBufferPointer(row)
    }

    mutating func row<Numbers: BitwiseCopyable, Number: BitwiseCopyable>(
        _ table: RowChecksum.Table, _ key: Int64, _ numbers: Numbers, _ rest: [Number]
    ) -> UnsafeRawBufferPointer {
        rest.withUnsafeBytes { row(table, key, numbers, $0) }
    }

    private mutating func grow(_ count: Int) {
        start.deallocate()
        capacity = count * 2
        start = .allocate(byteCount: capacity, alignment: 8)
    }
}

extension LogWriting {
    /// Writes a row that consists of a few numbers without padding. Allocates, so use it rarely.
    func put<Numbers: BitwiseCopyable>(
        _ table: LogTable, _ sum: RowChecksum.Table, _ key: Int64, _ numbers: Numbers
    ) throws(EventLogError) {
        var buffer = RowBuffer()
        try put(table, key, buffer.row(sum, key, numbers))
    }
}

extension RawSpan {
    /// A copy of the bytes from `offset` on; empty if there are none.
    func array(from offset: Int) -> [UInt8] {
        withUnsafeBytes { offset < $0.count ? Array($0[offset...]) : [] }
    }

    /// `count` numbers from `offset` on. The row must be long enough.
    func numbers<Number: BitwiseCopyable>(from offset: Int, count: Int) -> [Number] {
        withUnsafeBytes { row in
            Array(unsafeUninitializedCapacity: count) { numbers, filled in
                let end = offset + count * MemoryLayout<Number>.stride
                UnsafeMutableRawBufferPointer(numbers).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: row[offset..<end]))
                filled = count
            }
        }
    }

    /// The bytes of `range` as text. The row must be long enough.
    func text(_ range: Range<Int>) -> String {
        withUnsafeBytes { String(decoding: $0[range], as: UTF8.self) }
    }

    /// The numbers after the checksum, unchecked; nil if the row is too short. See
    /// `RowChecksum.isRight`.
    @inline(__always)
    func numbers<Numbers: BitwiseCopyable>(_ type: Numbers.Type = Numbers.self) -> Numbers? {
        guard byteCount >= RowChecksum.bytes + MemoryLayout<Numbers>.size else { return nil }
        return unsafeLoadUnaligned(fromByteOffset: RowChecksum.bytes, as: Numbers.self)
    }
}
