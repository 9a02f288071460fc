import TomboloCore

/// A row of the table `log`: its numbers, its checksum, and how it is written and read.
struct EventRow {
    /// All that a row holds besides the key's and the body's bytes. 64 bits each, so that there is
    /// no padding and the checksum covers every byte.
    struct Numbers: BitwiseCopyable {
        var seq: Int64
        var tenant: Int64
        var activity: Int64
        var version: Int64
        var previous: Int64
        var kind: Int64
        var recordedAt: Int64
        /// 0 without a key.
        var digest: Int64
        /// -1 without a key.
        var keyBytes: Int64
    }

    static let columns = """
        seq, tenant, activity, version, previous, kind, recorded_at, crc, idempotency_digest, \
        idempotency_key, body
        """

    static let insertion = "INSERT INTO log(\(columns)) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)"

    // MARK: Writing

    /// The numbers of `event`, which comes to stand at `seq`.
    @inline(__always)
    private static func numbers(
        _ event: borrowing NewEvent, _ seq: Int64, _ place: Standing.Place
    ) -> Numbers {
        Numbers(
            seq: seq, tenant: place.tenant, activity: event.activity.rawValue,
            version: event.expectedVersion + 1, previous: place.previous,
            kind: Int64(event.kind.rawValue), recordedAt: event.recordedAt.nanoseconds,
            digest: event.idempotency.map { Int64(bitPattern: $0.bodyDigest) } ?? 0,
            keyBytes: event.idempotency.map { Int64($0.key.utf8.count) } ?? -1)
    }

    /// Runs `insertion`. The answer is SQLite's code.
    static func insert(
        _ event: borrowing NewEvent, _ seq: Int64, _ place: Standing.Place,
        with statement: borrowing Statement
    ) -> Int32 {
        let numbers = numbers(event, seq, place)
        statement.bind(numbers.seq, at: 1)
        statement.bind(numbers.tenant, at: 2)
        statement.bind(numbers.activity, at: 3)
        statement.bind(numbers.version, at: 4)
        statement.bind(numbers.previous, at: 5)
        statement.bind(numbers.kind, at: 6)
        statement.bind(numbers.recordedAt, at: 7)
        guard let key = event.idempotency else {
            statement.bindNull(at: 9)
            statement.bindNull(at: 10)
            return finish(event.body, numbers, key: .init(start: nil, count: 0), statement)
        }
        statement.bind(numbers.digest, at: 9)
        return withBytes(of: key.key) { bytes in
            statement.bindText(bytes, at: 10)
            return finish(event.body, numbers, key: bytes, statement)
        }
    }

    private static func finish(
        _ body: [UInt8], _ numbers: Numbers, key: UnsafeRawBufferPointer,
        _ statement: borrowing Statement
    ) -> Int32 {
        body.withUnsafeBytes { body in
            statement.bind(checksum(numbers, key: key, body: body), at: 8)
            statement.bindBlob(body, at: 11)
            return statement.run()
        }
    }

    @inline(__always)
    private static func checksum(
        _ numbers: Numbers, key: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer
    ) -> Int64 {
        var sum = RowChecksum(.log)
        sum.add(numbers)
        sum.add(key)
        sum.add(body)
        return sum.stored
    }

    // MARK: Reading

    /// The numbers of the present row of a statement that selects `columns`; nil where the row is
    /// damaged.
    static func numbers(_ statement: borrowing Statement) -> Numbers? {
        let key = statement.bytes(9)
        let numbers = Numbers(
            seq: statement.integer(0), tenant: statement.integer(1),
            activity: statement.integer(2), version: statement.integer(3),
            previous: statement.integer(4), kind: statement.integer(5),
            recordedAt: statement.integer(6), digest: statement.integer(8),
            keyBytes: statement.isNull(9) ? -1 : Int64(key.count))
        let sum = checksum(numbers, key: key, body: statement.bytes(10))
        return sum == statement.integer(7) ? numbers : nil
    }

    /// The present row as an event; nil where it is damaged, or of a tenant whose own row is.
    static func event(
        _ statement: borrowing Statement, tenants: Tenants
    ) -> RecordedEvent? {
        guard let numbers = numbers(statement), let tenant = tenants.name(numbers.tenant),
            let kind = UInt8(exactly: numbers.kind).flatMap(EventKind.init(rawValue:))
        else { return nil }
        var idempotency: IdempotencyKey?
        if numbers.keyBytes >= 0 {
            idempotency = IdempotencyKey(
                key: String(decoding: statement.bytes(9), as: UTF8.self),
                bodyDigest: UInt64(bitPattern: numbers.digest))
        }
        let event = NewEvent(
            tenant: tenant, activity: ActivityNumber(numbers.activity),
            expectedVersion: numbers.version - 1, kind: kind,
            recordedAt: Instant(nanoseconds: numbers.recordedAt),
            body: Array(statement.bytes(10)), idempotency: idempotency)
        return RecordedEvent(seq: numbers.seq, previous: numbers.previous, event: event)
    }
}

/// The UTF-8 of `string` where it lies, or of a copy.
@inline(__always)
func withBytes<Answer>(
    of string: String, _ body: (UnsafeRawBufferPointer) -> Answer
) -> Answer {
    var string = string
    return string.withUTF8 { body(UnsafeRawBufferPointer($0)) }
}
