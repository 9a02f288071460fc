package import TomboloCore

/// A row of the table `event`. Its parts: the numbers; the place among the tenant's events if it
/// differs from the sequence; the key that made the request, if known; the idempotency key with its
/// digest; the body.
package enum EventRow {
    /// The fixed part of a row, without padding, so that the checksum covers every byte. Numbers
    /// are in native byte order: all supported machines are little-endian.
    struct Numbers: BitwiseCopyable {
        /// Covers the sequence and the rest of the row.
        var checksum: UInt32 = 0
        var kind: UInt8
        /// Says which optional parts exist: `hasKey`, `isErased`, `hasTenantSeq`, `hasAsker`,
        /// `hasKeyHash`.
        var flags: UInt8
        var keyBytes: UInt16
        var tenant: Int64
        var activity: Int64
        var version: Int64
        /// Sequence of the activity's previous event; 0 if this is the first.
        var previous: Int64
        /// Sequence of the activity's newest snapshot before this row; 0 if there is none.
        var anchor: Int64
        var recordedAt: Int64

        static let hasKey: UInt8 = 1
        static let isErased: UInt8 = 2
        static let hasTenantSeq: UInt8 = 4
        static let hasAsker: UInt8 = 8
        /// In an erased event, a hash replaces the idempotency key and its digest.
        static let hasKeyHash: UInt8 = 16

        static let bytes = MemoryLayout<Numbers>.size
        static let previousAt = 32
        var tenantSeqBytes: Int { flags & Self.hasTenantSeq == 0 ? 0 : MemoryLayout<Int64>.size }
        var askerBytes: Int { flags & Self.hasAsker == 0 ? 0 : MemoryLayout<Int64>.size }
        /// Offset of the key that made the request.
        var askerStart: Int { Self.bytes + tenantSeqBytes }
        /// Offset of the idempotency key's digest, which the key follows.
        var digestStart: Int { askerStart + askerBytes }
        var digestBytes: Int {
            flags & (Self.hasKey | Self.hasKeyHash) == 0 ? 0 : MemoryLayout<UInt64>.size
        }
        var bodyStart: Int { digestStart + digestBytes + Int(keyBytes) }
        var hasBeenErased: Bool { flags & Self.isErased != 0 }
        /// Range of the idempotency key in the row; nil if there is none.
        var key: Range<Int>? {
            flags & Self.hasKey == 0 ? nil : bodyStart - Int(keyBytes)..<bodyStart
        }
    }

    static let keyBytesMax = Int(UInt16.max)

    // MARK: Writing

    /// Encodes the row of `event` at `seq` in `buffer`.
    @inline(__always)
    static func encode(
        _ event: borrowing NewEvent, _ seq: Int64, _ place: Standing.Place,
        into buffer: inout RowBuffer
    ) -> UnsafeRawBufferPointer {
        var numbers = Numbers(
            kind: event.kind.rawValue, flags: 0, keyBytes: 0, tenant: place.tenant,
            activity: event.activity.rawValue, version: event.expectedVersion + 1,
            previous: place.previous, anchor: place.anchor,
            recordedAt: event.recordedAt.nanoseconds)
        // After an import, an event that was erased in the other log stays erased.
        if event.body.isEmpty { numbers.flags |= Numbers.isErased }
        if place.tenantSeq != seq { numbers.flags |= Numbers.hasTenantSeq }
        if event.key.isKnown { numbers.flags |= Numbers.hasAsker }
        return event.body.withUnsafeBytes { body in
            guard let key = event.idempotency else {
                return encode(
                    numbers, tenantSeq: place.tenantSeq, asker: event.key, digest: 0,
                    key: .init(start: nil, count: 0), body: body, seq, into: &buffer)
            }
            numbers.flags |= Numbers.hasKey
            return withBytes(of: key.key) { bytes in
                encode(
                    numbers, tenantSeq: place.tenantSeq, asker: event.key, digest: key.bodyDigest,
                    key: bytes, body: body, seq, into: &buffer)
            }
        }
    }

    /// Encodes a row from its parts. The flags in `numbers` say which optional parts exist.
    @inline(__always)
    static func encode(
        _ numbers: Numbers, tenantSeq: Int64, asker: AskingKey = .unknown, digest: UInt64,
        key: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer, _ seq: Int64,
        into buffer: inout RowBuffer
    ) -> UnsafeRawBufferPointer {
        precondition(key.count <= keyBytesMax, "a key has at most \(keyBytesMax) bytes")
        var numbers = numbers
        numbers.keyBytes = UInt16(key.count)
        let count = numbers.bodyStart + body.count
        let row = buffer.bytes(count)
        row.storeBytes(of: numbers, as: Numbers.self)
        if numbers.tenantSeqBytes > 0 {
            row.storeBytes(of: tenantSeq, toByteOffset: Numbers.bytes, as: Int64.self)
        }
        if numbers.askerBytes > 0 {
            row.storeBytes(of: asker.rawValue, toByteOffset: numbers.askerStart, as: Int64.self)
        }
        if numbers.digestBytes > 0 {
            row.storeBytes(of: digest, toByteOffset: numbers.digestStart, as: UInt64.self)
        }
        let behind = UnsafeMutableRawBufferPointer(
            rebasing: row[(numbers.bodyStart - key.count)...])
        behind.copyMemory(from: key)
        UnsafeMutableRawBufferPointer(rebasing: behind[key.count...]).copyMemory(from: body)
        RowChecksum.seal(.log, seq, row)
        return UnsafeRawBufferPointer(row)
    }

    // MARK: Reading

    /// The numbers, unchecked; nil if the row is too short.
    @inline(__always)
    static func unproved(_ row: RawSpan) -> Numbers? {
        guard row.byteCount >= Numbers.bytes else { return nil }
        return row.unsafeLoadUnaligned(as: Numbers.self)
    }

    /// The checked numbers of the row at `seq`; nil if it is damaged.
    @inline(__always)
    static func numbers(_ seq: Int64, _ row: RawSpan) -> Numbers? {
        guard let numbers = unproved(row), RowChecksum.isRight(.log, seq, row),
            numbers.bodyStart <= row.byteCount, numbers.previous >= 0, numbers.previous < seq,
            numbers.version > 0, numbers.version <= LogTable.numberMax, numbers.activity >= 0,
            numbers.activity < ActivityNumber.max
        else { return nil }
        return numbers
    }

    /// The place among the tenant's events, unchecked; 0 if the row is too short.
    @inline(__always)
    static func tenantSeq(_ numbers: Numbers, _ row: RawSpan, at seq: Int64) -> Int64 {
        guard numbers.tenantSeqBytes > 0 else { return seq }
        guard row.byteCount >= numbers.digestStart else { return 0 }
        return row.unsafeLoadUnaligned(fromByteOffset: Numbers.bytes, as: Int64.self)
    }

    /// The key that made the request; `.unknown` if the row does not have it.
    static func asker(_ numbers: Numbers, _ row: RawSpan) -> AskingKey {
        guard numbers.askerBytes > 0, row.byteCount >= numbers.digestStart else { return .unknown }
        return AskingKey(
            rawValue: row.unsafeLoadUnaligned(fromByteOffset: numbers.askerStart, as: Int64.self))
    }

    /// Describes a damaged row, with those of its values that are plausible.
    ///
    /// - Parameter activity: the activity's title, if known.
    static func damageLine(
        _ seq: Int64, _ row: RawSpan, tenants: Tenants, activity: String? = nil
    ) -> String {
        guard let numbers = unproved(row), let tenant = tenants.name(numbers.tenant),
            row.byteCount >= numbers.digestStart
        else { return "row \(seq) of the events is damaged; whose it was cannot be read" }
        let tenantSeq = tenantSeq(numbers, row, at: seq)
        let activity = activity ?? "activity number \(numbers.activity)"
        return "event \(tenantSeq) of \(tenant.name) (row \(seq), \(activity)): its row is damaged"
    }

    /// The row at `seq` as an event; nil if the row, or the row of its tenant, is damaged.
    package static func event(_ seq: Int64, _ row: RawSpan, tenants: Tenants) -> RecordedEvent? {
        guard let numbers = numbers(seq, row), let tenant = tenants.name(numbers.tenant),
            let kind = EventKind(rawValue: numbers.kind)
        else { return nil }
        let tenantSeq = tenantSeq(numbers, row, at: seq)
        guard tenantSeq > 0, tenantSeq <= seq else { return nil }
        var idempotency: IdempotencyKey?
        if let key = numbers.key {
            idempotency = IdempotencyKey(
                key: row.text(key),
                bodyDigest: row.unsafeLoadUnaligned(
                    fromByteOffset: numbers.digestStart, as: UInt64.self))
        }
        let event = NewEvent(
            tenant: tenant, activity: ActivityNumber(numbers.activity),
            expectedVersion: numbers.version - 1, kind: kind,
            recordedAt: Instant(nanoseconds: numbers.recordedAt),
            body: row.array(from: numbers.bodyStart), idempotency: idempotency,
            key: asker(numbers, row))
        return RecordedEvent(
            seq: seq, tenantSeq: tenantSeq, previous: numbers.previous, event: event)
    }

    /// The hash of the idempotency key; nil if the event has none. An erased event keeps it.
    static func keyHash(_ numbers: Numbers, _ row: RawSpan, _ hash: KeyedHash) -> UInt64? {
        if numbers.flags & Numbers.hasKeyHash != 0 {
            return row.unsafeLoadUnaligned(fromByteOffset: numbers.digestStart, as: UInt64.self)
        }
        guard let key = numbers.key else { return nil }
        return row.withUnsafeBytes {
            hash(UInt64(bitPattern: numbers.tenant), UnsafeRawBufferPointer(rebasing: $0[key]))
        }
    }

    /// The row of an erased event: its numbers and the hash of its idempotency key, so that a
    /// repeated request is still recognised.
    static func tombstone(
        _ seq: Int64, _ numbers: Numbers, _ row: RawSpan, _ hash: KeyedHash,
        into buffer: inout RowBuffer
    ) -> UnsafeRawBufferPointer {
        var left = numbers
        let keyHash = keyHash(numbers, row, hash)
        let kept = Numbers.hasTenantSeq | Numbers.hasAsker
        left.flags = Numbers.isErased | numbers.flags & kept
        if keyHash != nil { left.flags |= Numbers.hasKeyHash }
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        return encode(
            left, tenantSeq: tenantSeq(numbers, row, at: seq), asker: asker(numbers, row),
            digest: keyHash ?? 0, key: nothing, body: nothing, seq, into: &buffer)
    }
}
