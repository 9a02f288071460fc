import TomboloCore
import TomboloEventLog

/// The idempotency keys of a chapter of the log: a row of the table `keys`, by the chapter's first
/// sequence. It has hashes only, and is written with the chapter's last event.
struct KeyChapter {
    /// Keys from this sequence on are of that hour of steady time.
    struct Hour: Hashable, BitwiseCopyable {
        var hour: Int64
        var firstSeq: Int64
    }

    /// How a key's hash and hour are made again from its event.
    struct Maker {
        let hash: KeyedHash
        let leads: ClockLeads

        /// An event has its wall time. The lead of that time is known to a minute, so that the key
        /// counts for a minute more rather than for one less.
        static let slack = Span.seconds(ClockLeads.noticed)

        func hour(of recordedAt: Int64, at seq: Int64) -> Int64 {
            let steady = Instant(nanoseconds: recordedAt) - leads.lead(.event, seq)
            return IdempotencyKey.hour(of: steady + Self.slack)
        }
    }

    /// Hours only rise.
    private(set) var hours: [Hour] = []
    private var hashes: [UInt64] = []
    /// Their distances from the chapter's first sequence.
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

    /// The keys of each hour from `since` on: their hashes and sequences.
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

    /// nil where the row is damaged, or says what no log can have written.
    init?(_ first: Int64, _ row: RawSpan) {
        guard let counts = row.numbers(Counts.self), RowChecksum.isRight(.keys, first, row),
            (0...LogChapter.size).contains(counts.keys), (0...counts.keys).contains(counts.hours),
            counts.hours > 0 || counts.keys == 0
        else { return nil }
        var start = RowChecksum.bytes + MemoryLayout<Counts>.size
        let parts: [Int] = [
            Int(counts.hours) * MemoryLayout<Hour>.size,
            Int(counts.keys) * MemoryLayout<UInt64>.size,
            Int(counts.keys) * MemoryLayout<UInt16>.size,
        ]
        guard row.byteCount == start + parts.reduce(0, +) else { return nil }
        hours = row.numbers(from: start, count: Int(counts.hours))
        start += parts[0]
        hashes = row.numbers(from: start, count: Int(counts.keys))
        start += parts[1]
        offsets = row.numbers(from: start, count: Int(counts.keys))
        guard isPossible(first) else { return nil }
    }

    /// Whether places and hours rise, and are the chapter's.
    private func isPossible(_ first: Int64) -> Bool {
        guard let firstOffset = offsets.first else { return hours.isEmpty }
        var last = -1
        for offset in offsets {
            guard Int(offset) > last, offset < LogChapter.size else { return false }
            last = Int(offset)
        }
        var before = Hour(hour: -LogTable.numberMax, firstSeq: first - 1)
        for hour in hours {
            guard hour.hour > before.hour, hour.hour < LogTable.numberMax,
                hour.firstSeq > before.firstSeq, hour.firstSeq < first + LogChapter.size
            else { return false }
            before = hour
        }
        return hours[0].firstSeq <= first + Int64(firstOffset)
    }

    // MARK: From its events

    /// What the events of a chapter come to, as far as there are any. A damaged one has lost its
    /// key.
    ///
    /// - Parameter hour: that of the chapter before; its own hours are not earlier.
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
