import TomboloCore

/// A row of the table `fact`. Its parts: the numbers; the place among the tenant's facts if it
/// differs from the sequence; the kind; the body.
enum FactRow {
    /// In native byte order, without padding: the checksum covers every byte.
    struct Numbers: BitwiseCopyable {
        /// Covers the sequence and the rest of the row.
        fileprivate var checksum: UInt32 = 0
        fileprivate var kindBytes: UInt16
        fileprivate var flags: UInt16
        var tenant: Int64
        fileprivate var number: Int64
        var recordedAt: Int64

        fileprivate static let hasActivity: UInt16 = 1
        fileprivate static let hasTenantSeq: UInt16 = 2

        var activity: Int64? { flags & Self.hasActivity == 0 ? nil : number }
        fileprivate var tenantSeqBytes: Int {
            flags & Self.hasTenantSeq == 0 ? 0 : MemoryLayout<Int64>.size
        }
        fileprivate static let bytes = MemoryLayout<Numbers>.size
        fileprivate var kindStart: Int { Self.bytes + tenantSeqBytes }
        fileprivate var bodyStart: Int { kindStart + Int(kindBytes) }
    }

    static let kindBytesMax = Int(UInt16.max)

    @inline(__always)
    static func encode(
        _ fact: NewFact, _ seq: Int64, tenantSeq: Int64, tenant: Int64,
        into buffer: inout RowBuffer
    ) -> UnsafeRawBufferPointer {
        withBytes(of: fact.kind) { kind in
            fact.body.withUnsafeBytes { body in
                precondition(kind.count <= kindBytesMax, "a kind has at most \(kindBytesMax) bytes")
                var numbers = Numbers(
                    kindBytes: UInt16(kind.count), flags: 0, tenant: tenant,
                    number: fact.activity?.rawValue ?? 0, recordedAt: fact.recordedAt.nanoseconds)
                if fact.activity != nil { numbers.flags |= Numbers.hasActivity }
                if tenantSeq != seq { numbers.flags |= Numbers.hasTenantSeq }
                let row = buffer.bytes(numbers.bodyStart + body.count)
                row.storeBytes(of: numbers, as: Numbers.self)
                if numbers.tenantSeqBytes > 0 {
                    row.storeBytes(of: tenantSeq, toByteOffset: Numbers.bytes, as: Int64.self)
                }
                UnsafeMutableRawBufferPointer(rebasing: row[numbers.kindStart...])
                    .copyMemory(from: kind)
                UnsafeMutableRawBufferPointer(rebasing: row[numbers.bodyStart...])
                    .copyMemory(from: body)
                RowChecksum.seal(.fact, seq, row)
                return UnsafeRawBufferPointer(row)
            }
        }
    }

    // MARK: Unchecked

    /// The numbers, unchecked; nil if the row is too short for them or for the parts after them.
    @inline(__always)
    static func unproved(_ row: RawSpan) -> Numbers? {
        guard row.byteCount >= Numbers.bytes else { return nil }
        let numbers = row.unsafeLoadUnaligned(as: Numbers.self)
        return numbers.bodyStart <= row.byteCount ? numbers : nil
    }

    /// The place among the tenant's facts.
    @inline(__always)
    static func tenantSeq(_ numbers: Numbers, _ row: RawSpan, at seq: Int64) -> Int64 {
        guard numbers.tenantSeqBytes > 0 else { return seq }
        return row.unsafeLoadUnaligned(fromByteOffset: Numbers.bytes, as: Int64.self)
    }

    /// Calls `take` with kind and body, without a copy.
    @inline(__always)
    static func withContent<Answer>(
        _ numbers: Numbers, _ row: RawSpan,
        _ take: (_ kind: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer) -> Answer
    ) -> Answer {
        row.withUnsafeBytes {
            take(
                UnsafeRawBufferPointer(rebasing: $0[numbers.kindStart..<numbers.bodyStart]),
                UnsafeRawBufferPointer(rebasing: $0[numbers.bodyStart...]))
        }
    }

    // MARK: Checked

    /// The checked numbers; nil if the row is damaged.
    @inline(__always)
    static func numbers(_ seq: Int64, _ row: RawSpan) -> Numbers? {
        guard let numbers = unproved(row), RowChecksum.isRight(.fact, seq, row),
            (1...max(1, seq)).contains(tenantSeq(numbers, row, at: seq))
        else { return nil }
        return numbers
    }

    /// The row's tenant and its place among the tenant's facts; nil if it is damaged.
    static func place(_ seq: Int64, _ row: RawSpan) -> (tenant: Int64, tenantSeq: Int64)? {
        numbers(seq, row).map { ($0.tenant, tenantSeq($0, row, at: seq)) }
    }

    /// The row as a fact; nil if the row, or the row of its tenant, is damaged.
    static func fact(_ seq: Int64, _ row: RawSpan, tenants: Tenants) -> RecordedFact? {
        guard let numbers = numbers(seq, row), let tenant = tenants.name(numbers.tenant) else {
            return nil
        }
        let fact = withContent(numbers, row) { kind, body in
            NewFact(
                tenant: tenant, activity: numbers.activity.map { ActivityNumber($0) },
                kind: String(decoding: kind, as: UTF8.self),
                recordedAt: Instant(nanoseconds: numbers.recordedAt), body: Array(body))
        }
        return RecordedFact(seq: seq, tenantSeq: tenantSeq(numbers, row, at: seq), fact: fact)
    }
}
