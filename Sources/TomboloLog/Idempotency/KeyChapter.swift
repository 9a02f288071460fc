import TomboloCore
import TomboloEventLog

/// The idempotency keys of one chapter of events: a row of the table `keys`, whose key is the
/// chapter's first sequence. It holds only hashes, and is written with the chapter's last event.
struct KeyChapter {
    /// The keys of events from `firstSeq` on belong to this hour of the steady clock.
    struct Hour: Hashable, BitwiseCopyable {
        var hour: Int64
        var firstSeq: Int64
    }

    /// Computes an idempotency key's hash and hour from its event.
    struct Maker {
        let hash: KeyedHash
        let leads: ClockLeads

        /// Added to the steady time. The wall clock's lead is known only to a minute, so that a key
        /// counts rather a minute too long than too short.
        static let slack = Span.seconds(ClockLeads.noticed)

        func hour(of recordedAt: Int64, at seq: Int64) -> Int64 {
            let steady = Instant(nanoseconds: recordedAt) - leads.lead(.event, seq)
            return IdempotencyKey.hour(of: steady + Self.slack)
        }
    }

    /// Hours in rising order.
    private(set) var hours: [Hour] = []
    private var hashes: [UInt64] = []
    /// For each key, the distance of its event from the chapter's first sequence.
    private var offsets: [UInt16] = []

    init() {}

    var lastHour: Int64? { hours.last?.hour }

    @inline(__always)
    mutating func add(_ hash: UInt64, seq: Int64, hour: Int64) {
        if hours.last.map({ $0.hour < hour }) ?? true {
            hours.append(Hour(hour: hour, firstSeq: seq))
        }
        hashes.append(hash)
        offsets.append(UInt16(truncatingIfNeeded: (seq - 1) % LogChapter.size))
    }

    /// Receives the keys of one hour: their hashes and the sequences of their events.
    typealias Take = (
        _ hashes: ArraySlice<UInt64>, _ seqs: ArraySlice<Int64>, _ hour: Int64
    ) -> Void

    func forEachHour(of first: Int64, since: Int64, _ take: Take) {
        let seqs = offsets.map { first + Int64($0) }
        var start = 0
        for (index, hour) in hours.enumerated() {
            let next = index + 1 < hours.count ? hours[index + 1].firstSeq : .max
            let end = seqs[start...].firstIndex { $0 >= next } ?? seqs.count
            if hour.hour >= since { take(hashes[start..<end], seqs[start..<end], hour.hour) }
            start = end
        }
    }

    // MARK: Its row

    private typealias Counts = (hours: Int64, keys: Int64)

    func encode(_ first: Int64, into buffer: inout RowBuffer) -> UnsafeRawBufferPointer {
        var rest: [UInt8] = []
        hours.withUnsafeBytes { rest += $0 }
        hashes.withUnsafeBytes { rest += $0 }
        offsets.withUnsafeBytes { rest += $0 }
        let counts: Counts = (Int64(hours.count), Int64(hashes.count))
        return buffer.row(.keys, first, counts, rest)
    }

    /// Returns nil if the row is damaged or has values that no log writes.
    init?(_ first: Int64, _ row: RawSpan) {
        guard let counts = row.numbers(Counts.self), RowChecksum.isRight(.keys, first, row),
            (0...LogChapter.size).contains(counts.keys), (0...counts.keys).contains(counts.hours),
            counts.hours > 0 || counts.keys == 0
        else { return nil }
        let (hourCount, keyCount) = (Int(counts.hours), Int(counts.keys))
        let hoursAt = RowChecksum.bytes + MemoryLayout<Counts>.size
        let hashesAt = hoursAt + hourCount * MemoryLayout<Hour>.size
        let offsetsAt = hashesAt + keyCount * MemoryLayout<UInt64>.size
        guard row.byteCount == offsetsAt + keyCount * MemoryLayout<UInt16>.size else { return nil }
        hours = row.numbers(from: hoursAt, count: hourCount)
        hashes = row.numbers(from: hashesAt, count: keyCount)
        offsets = row.numbers(from: offsetsAt, count: keyCount)
        guard isPossible(first) else { return nil }
    }

    /// True if offsets and hours rise and lie within the chapter.
    private func isPossible(_ first: Int64) -> Bool {
        guard let oldest = offsets.first, let newest = offsets.last else { return hours.isEmpty }
        return newest < LogChapter.size && hours[0].firstSeq <= first + Int64(oldest)
            && zip(offsets, offsets.dropFirst()).allSatisfy(<)
            && zip(hours, hours.dropFirst()).allSatisfy {
                $0.hour < $1.hour && $0.firstSeq < $1.firstSeq
            }
            && hours.allSatisfy {
                (1 - LogTable.numberMax..<LogTable.numberMax).contains($0.hour)
                    && (first...LogChapter.last(of: first)).contains($0.firstSeq)
            }
    }

    // MARK: From its events

    /// Builds the chapter from its events. The key of a damaged event is lost.
    ///
    /// - Parameter hour: the last hour of the chapter before; hours here are not earlier.
    init(
        _ first: Int64, _ maker: Maker, after hour: Int64?, _ engine: any LogReading
    ) throws(EventLogError) {
        try engine.scan(.event, first...LogChapter.last(of: first)) { seq, row in
            guard let numbers = EventRow.numbers(seq, row),
                let hash = EventRow.keyHash(numbers, row, maker.hash)
            else { return true }
            let own = maker.hour(of: numbers.recordedAt, at: seq)
            add(hash, seq: seq, hour: max(own, hour ?? own))
            return true
        }
    }
}
