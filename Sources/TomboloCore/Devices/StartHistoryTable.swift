/// The histories of phones' starts, by their keys.
struct StartHistoryTable: Sendable {
    private var byKey: [StartHistory.Key: StartHistory] = [:]
    private var nextNumber: Int64 = 1

    init() {}

    var isEmpty: Bool { byKey.isEmpty }

    subscript(key: StartHistory.Key) -> StartHistory? { byKey[key] }

    /// Stores a history, replacing that with the same key. Returns its record.
    mutating func keep(_ history: StartHistory) -> Record {
        byKey[history.key] = history
        return history.record()
    }

    /// Makes a history for a new key. If the table is full, drops histories that are not needed any
    /// more; if the tenant still has too many, drops the one with the earliest `until`. Returns the
    /// records that delete the dropped ones.
    mutating func make(
        _ key: StartHistory.Key, now: Instant
    ) -> (history: StartHistory, gone: [Record]) {
        let history = StartHistory(number: nextNumber, key: key)
        nextNumber += 1
        guard byKey.count >= StartHistory.countMax else { return (history, []) }
        var records: [Record] = []
        let gone = byKey.values.filter { $0.until <= now }
        for old in gone.sorted(by: { $0.number < $1.number }) { records += remove(old.key) }
        let own = byKey.values.filter { $0.tenant == history.tenant }
        if own.count >= StartHistory.countMax,
            let first = own.min(by: { ($0.until, $0.number) < ($1.until, $1.number) })
        {
            records += remove(first.key)
        }
        return (history, records)
    }

    /// Removes a history. Returns the record that deletes it; empty if there is no history.
    mutating func remove(_ key: StartHistory.Key) -> [Record] {
        guard let history = byKey.removeValue(forKey: key) else { return [] }
        return [Record(space: .startHistory, number: history.number, value: nil)]
    }

    /// Restores a history from its record. Returns a text if the record is damaged.
    mutating func adopt(_ record: Record) -> [String] {
        nextNumber = max(nextNumber, record.number + 1)
        guard let value = record.value else { return [] }
        guard let history = StartHistory(record: value, number: record.number) else {
            return ["the start history number \(record.number) cannot be read"]
        }
        byKey[history.key] = history
        return []
    }
}
