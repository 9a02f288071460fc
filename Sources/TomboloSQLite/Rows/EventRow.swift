import TomboloCore

/// A row of the table `event`: one blob, so that SQLite has two columns to handle instead of eleven
/// (a third of the time to read one): the numbers, then the place among the tenant's events if it
/// is not that in the log, then who asked if that is known, then the idempotency key, then the
/// body.
enum EventRow {
    /// All that a row holds besides the key's and the body's bytes; without padding, so that the
    /// checksum covers every byte. As the machine holds them: both of ours are little-endian.
    struct Numbers: BitwiseCopyable {
        /// Over the sequence and all of the row behind it.
        var checksum: UInt32 = 0
        var kind: UInt8
        /// `hasKey`, `isErased`, `hasTenantSeq`, `hasAsker`.
        var flags: UInt8
        var keyBytes: UInt16
        var tenant: Int64
        var activity: Int64
        var version: Int64
        /// The activity's row before; 0 where this is its first.
        var previous: Int64
        /// The activity's newest snapshot before this row; 0 where it has none.
        var anchor: Int64
        var recordedAt: Int64

        static let hasKey: UInt8 = 1
        static let isErased: UInt8 = 2
        static let hasTenantSeq: UInt8 = 4
        static let hasAsker: UInt8 = 8

        static let bytes = MemoryLayout<Numbers>.size
        var tenantSeqBytes: Int { flags & Self.hasTenantSeq == 0 ? 0 : MemoryLayout<Int64>.size }
        var askerBytes: Int { flags & Self.hasAsker == 0 ? 0 : MemoryLayout<Int64>.size }
        /// Of the row's bytes, where it says who asked, or would.
        var askerStart: Int { Self.bytes + tenantSeqBytes }
        /// Of the row's bytes, where the digest and the key are, or would be.
        var digestStart: Int { askerStart + askerBytes }
        var digestBytes: Int { flags & Self.hasKey == 0 ? 0 : MemoryLayout<UInt64>.size }
        var bodyStart: Int { digestStart + digestBytes + Int(keyBytes) }
        /// Whether it says what a log can have written.
        @inline(__always)
        func isPossible(at seq: Int64) -> Bool {
            version > 0 && version <= LogSchema.numberMax && previous >= 0 && previous < seq
                && activity >= 0 && activity < ActivityNumber.max
        }
        var hasBeenErased: Bool { flags & Self.isErased != 0 }
    }

    static let columns = "seq, row"
    static let insertion = "INSERT INTO event(seq, row) VALUES(?1,?2)"
    static let replacement = "UPDATE event SET row = ?2 WHERE seq = ?1"
    static let keyBytesMax = Int(UInt16.max)

    // MARK: Writing

    /// Puts the row of `event`, which comes to stand at `seq`, together in `buffer`.
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
        // What was erased elsewhere stays erased where it is taken in.
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

    /// The same out of its parts; `flags` of the numbers say which of them there are.
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
        row.storeBytes(of: checksum(seq, UnsafeRawBufferPointer(row)), as: UInt32.self)
        return UnsafeRawBufferPointer(row)
    }

    /// Over all of a row but the sum itself.
    @inline(__always)
    private static func checksum(_ seq: Int64, _ row: UnsafeRawBufferPointer) -> UInt32 {
        var sum = RowChecksum(.log)
        sum.add(seq)
        sum.add(UnsafeRawBufferPointer(rebasing: row[MemoryLayout<UInt32>.size...]))
        return sum.value
    }

    // MARK: Reading

    /// What the numbers say, whether they are right or not; nil where there is no room for them.
    @inline(__always)
    static func unproved(_ row: UnsafeRawBufferPointer) -> Numbers? {
        guard row.count >= Numbers.bytes else { return nil }
        return row.loadUnaligned(as: Numbers.self)
    }

    /// The numbers of the row at `seq`; nil where it is damaged.
    @inline(__always)
    static func numbers(_ seq: Int64, _ row: UnsafeRawBufferPointer) -> Numbers? {
        guard let numbers = unproved(row), numbers.checksum == checksum(seq, row),
            numbers.bodyStart <= row.count, numbers.isPossible(at: seq)
        else { return nil }
        return numbers
    }

    /// The place of a row among those of its tenant, as it says, whether that is right or not.
    @inline(__always)
    static func tenantSeq(
        _ numbers: Numbers, _ row: UnsafeRawBufferPointer, at seq: Int64
    ) -> Int64 {
        guard numbers.tenantSeqBytes > 0 else { return seq }
        guard row.count >= numbers.digestStart else { return 0 }
        return row.loadUnaligned(fromByteOffset: Numbers.bytes, as: Int64.self)
    }

    /// Who asked for the event of a row that is long enough.
    static func asker(_ numbers: Numbers, _ row: UnsafeRawBufferPointer) -> AskingKey {
        guard numbers.askerBytes > 0, row.count >= numbers.digestStart else { return .unknown }
        return AskingKey(
            rawValue: row.loadUnaligned(fromByteOffset: numbers.askerStart, as: Int64.self))
    }

    /// The numbers of the present row of a statement that selects `columns`.
    @inline(__always)
    static func numbers(_ statement: borrowing Statement) -> Numbers? {
        numbers(statement.integer(0), statement.bytes(1))
    }

    /// The present row as an event; nil where it is damaged, or of a tenant whose own row is.
    static func event(
        _ statement: borrowing Statement, tenants: Tenants
    ) -> RecordedEvent? {
        event(statement.integer(0), statement.bytes(1), tenants: tenants)
    }

    /// What a damaged row was, as far as its bytes can be believed.
    ///
    /// - Parameter activity: its title, where it is known.
    static func damageLine(
        _ statement: borrowing Statement, tenants: Tenants, activity: String? = nil
    ) -> String {
        let (seq, row) = (statement.integer(0), statement.bytes(1))
        guard let numbers = unproved(row), let tenant = tenants.name(numbers.tenant),
            row.count >= numbers.digestStart
        else { return "row \(seq) of the events is damaged; whose it was cannot be read" }
        let tenantSeq = tenantSeq(numbers, row, at: seq)
        let activity = activity ?? "activity number \(numbers.activity)"
        return "event \(tenantSeq) of \(tenant.name) (row \(seq), \(activity)): its row is damaged"
    }

    /// The row at `seq` as an event.
    static func event(
        _ seq: Int64, _ row: UnsafeRawBufferPointer, tenants: Tenants
    ) -> RecordedEvent? {
        guard let numbers = numbers(seq, row), let tenant = tenants.name(numbers.tenant),
            let kind = EventKind(rawValue: numbers.kind)
        else { return nil }
        let tenantSeq = tenantSeq(numbers, row, at: seq)
        guard tenantSeq > 0, tenantSeq <= seq else { return nil }
        var idempotency: IdempotencyKey?
        if numbers.digestBytes > 0 {
            let key = row[(numbers.bodyStart - Int(numbers.keyBytes))..<numbers.bodyStart]
            idempotency = IdempotencyKey(
                key: String(decoding: key, as: UTF8.self),
                bodyDigest: row.loadUnaligned(
                    fromByteOffset: numbers.digestStart, as: UInt64.self))
        }
        let event = NewEvent(
            tenant: tenant, activity: ActivityNumber(numbers.activity),
            expectedVersion: numbers.version - 1, kind: kind,
            recordedAt: Instant(nanoseconds: numbers.recordedAt),
            body: Array(row[numbers.bodyStart...]), idempotency: idempotency,
            key: asker(numbers, row))
        return RecordedEvent(
            seq: seq, tenantSeq: tenantSeq, previous: numbers.previous, event: event)
    }

    /// What is left of a row when its body and key are gone: where it stands, and when it came.
    static func tombstone(
        _ numbers: Numbers, tenantSeq: Int64, asker: AskingKey, _ seq: Int64,
        into buffer: inout RowBuffer
    ) -> UnsafeRawBufferPointer {
        var numbers = numbers
        let kept = Numbers.hasTenantSeq | Numbers.hasAsker
        numbers.flags = Numbers.isErased | numbers.flags & kept
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        return encode(
            numbers, tenantSeq: tenantSeq, asker: asker, digest: 0, key: nothing, body: nothing,
            seq, into: &buffer)
    }
}

/// Bytes in which rows are put together, one after the other.
struct RowBuffer: ~Copyable {
    private var start: UnsafeMutableRawPointer
    private var capacity: Int

    init() {
        capacity = 4_096
        start = .allocate(byteCount: capacity, alignment: 8)
    }

    deinit { start.deallocate() }

    /// `count` bytes of anything; valid until the next call.
    @inline(__always)
    mutating func bytes(_ count: Int) -> UnsafeMutableRawBufferPointer {
        if count > capacity { grow(count) }
        return UnsafeMutableRawBufferPointer(start: start, count: count)
    }

    private mutating func grow(_ count: Int) {
        start.deallocate()
        capacity = count * 2
        start = .allocate(byteCount: capacity, alignment: 8)
    }
}
