import TomboloCore
import TomboloEventLog

/// How far history was cut (deleted from its beginning), and up to which event the rows of heads
/// are current: rows of the table `cut`.
struct LogCut {
    /// Keys of the rows that hold one number. The table's other rows belong to `ClockLeads`.
    enum Key: Int64, CaseIterable {
        case log = 1
        case fact = 2
        case activity = 3
        case heads = 4
        case keys = 5
    }

    /// The last event and the last fact that were cut; 0 if none was.
    var seq: Int64 = 0
    var fact: Int64 = 0
    /// The highest activity number assigned when the last cut was made. It makes sure that no
    /// number is used again, even after all traces of its activity are deleted.
    var activity: Int64 = 0
    /// Rows of heads are current up to this event, and may lack later ones: see `LaterHeads`. nil
    /// if all are current.
    var heads: Int64?
    /// Idempotency keys up to this event were deleted; 0 if none were.
    var keys: Int64 = 0
    /// The leads of the wall clock, to compute the age of rows.
    var leads = ClockLeads()

    init() {}

    /// The last event, or the last fact, that was cut.
    subscript(kind: TenantSeqs.Kind) -> Int64 { kind == .event ? seq : fact }

    /// The newest event and fact that the log has ever had.
    func newest(_ engine: any LogReading) throws(EventLogError) -> ByKind<Int64> {
        ByKind(
            event: max(seq, try engine.newest(.event)), fact: max(fact, try engine.newest(.fact)))
    }

    /// A line of damage if events were cut that the rows of heads do not include; earlier program
    /// versions did this. Else nil.
    var headsLost: String? {
        guard let heads, heads < seq else { return nil }
        return "events \(heads + 1) to \(seq) were cut before their activities' newest states were "
            + "stored: an activity with events among them may be older than it was"
    }

    /// Reads the rows. Calls `damage` for each damaged row and uses a safe value in its place.
    init(_ engine: any LogReading, damage: (String) -> Void) throws(EventLogError) {
        var values: [Key: Int64] = [:]
        var isWhole = true
        try engine.scan(.cut) { number, row in
            let isRight =
                if let key = Key(rawValue: number) {
                    (Self.value(number, row).map { values[key] = $0 }) != nil
                } else {
                    number >= ClockLeads.firstKey && RowChecksum.isRight(.cut, number, row)
                        && leads.recover(number, row)
                }
            if isRight { return true }
            let name = Key(rawValue: number).map { "\($0)" } ?? "\(number)"
            damage("where history was cut (\(name)): its row is damaged")
            isWhole = false
            return true
        }
        var safe = LogCut()
        if !isWhole {
            // The oldest rows show how far history was cut. Activity numbers skip ahead, so that
            // none is used twice.
            safe.seq = try Self.cutBefore(.event, engine)
            safe.fact = try Self.cutBefore(.fact, engine)
            let last = try engine.edge(.head, .falling, in: 0...ActivityNumber.max - 1) ?? 0
            safe.activity = last + Self.numbersPassed
            safe.keys = (try engine.edge(.keys, .rising, in: 1...LogTable.numberMax) ?? 1) - 1
        }
        (seq, fact) = (values[.log] ?? safe.seq, values[.fact] ?? safe.fact)
        (activity, keys) = (values[.activity] ?? safe.activity, values[.keys] ?? safe.keys)
        // If `isWhole` is false, the row of `heads` may be lost: assume that heads lack all events.
        heads = values[.heads] ?? (isWhole ? nil : seq)
    }

    /// The number in a row; nil if it is damaged.
    static func value(_ key: Int64, _ row: RawSpan) -> Int64? {
        guard let value = RowChecksum.numbers(.cut, key, row, as: Int64.self),
            (0...LogTable.numberMax).contains(value)
        else { return nil }
        return value
    }

    /// The last cut sequence, derived from the oldest row. If there are no events, the newest
    /// sequence in any head, so that no sequence is used twice.
    private static func cutBefore(
        _ table: LogTable, _ engine: any LogReading
    ) throws(EventLogError) -> Int64 {
        if let first = try engine.edge(table, .rising, in: 1...LogTable.numberMax) {
            return first - 1
        }
        guard table == .event else { return 0 }
        var newest: Int64 = 0
        try engine.scan(.head) { activity, row in
            newest = max(newest, HeadRow.position(activity, row)?.seq ?? 0)
            return true
        }
        return newest
    }

    private static let numbersPassed: Int64 = 1 << 24

    /// Stores how far history was cut.
    func store(_ engine: any LogWriting) throws(EventLogError) {
        let values = [(Key.log, seq), (.fact, fact), (.activity, activity), (.keys, keys)]
        for (key, value) in values { try engine.put(.cut, .cut, key.rawValue, value) }
    }

    /// Stores up to which event the rows of heads are current.
    static func storeHeads(_ seq: Int64?, _ engine: any LogWriting) throws(EventLogError) {
        let key = Key.heads.rawValue
        if let seq { return try engine.put(.cut, .cut, key, seq) }
        try engine.delete(.cut, key)
    }
}
