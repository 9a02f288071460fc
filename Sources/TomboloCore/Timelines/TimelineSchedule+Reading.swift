import TomboloJSON

extension TimelineSchedule {
    private static let weekdays: [(String, Int64)] = [
        ("sunday", 0), ("monday", 1), ("tuesday", 2), ("wednesday", 3), ("thursday", 4),
        ("friday", 5), ("saturday", 6),
    ]

    /// Number of entries for coming boundaries, if `count` is missing.
    private static let countDefault: Int64 = 3

    /// Reads `{"weekly":{"on":"monday","at":"06:00","zone":"device"},"count":3}`, or the same with
    /// `daily`. Returns nil if it is missing or faulty.
    static func reading(_ reader: inout FieldReader) -> TimelineSchedule? {
        guard let view = reader.object("schedule") else { return nil }
        var inner = reader.inside(view, "schedule")
        let (weekly, daily) = (inner.object("weekly"), inner.object("daily"))
        let count = inner.integer("count", in: 1...Int64(countMax)) ?? countDefault
        var schedule: TimelineSchedule?
        if let rhythm = weekly ?? daily {
            var fields = inner.inside(rhythm, weekly == nil ? "daily" : "weekly")
            var weekday: Int64?
            if weekly != nil {
                weekday = fields.choice("on", weekdays)
                if weekday == nil, rhythm["on"] == nil { fields.fail("on", "is missing") }
            }
            schedule = TimelineSchedule(
                weekday: weekday, time: timeOfDay(&fields, rhythm), zone: zone(&fields),
                count: Int(count))
            do { try fields.finish() } catch { inner.adopt(error) }
        }
        inner.requireOne(of: ["weekly", "daily"], "give exactly one of weekly or daily")
        do {
            try inner.finish()
            return schedule
        } catch {
            reader.adopt(error)
            return nil
        }
    }

    private static func timeOfDay(_ reader: inout FieldReader, _ view: JSONView) -> Int64 {
        guard let text = reader.string("at") else {
            reader.require("at", "")
            return 0
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            part.utf8.count == 2 && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
                ? Int64(part) : nil
        }
        guard numbers.count == parts.count, (2...3).contains(parts.count), numbers[0] < 24,
            numbers.dropFirst().allSatisfy({ $0 < 60 })
        else {
            reader.fail("at", "must be a time of the day such as \"06:00\"")
            return 0
        }
        return time(
            hours: numbers[0], minutes: numbers[1], seconds: numbers.dropFirst(2).first ?? 0)
    }

    private static func zone(_ reader: inout FieldReader) -> Zone {
        guard let name = reader.string("zone"), name != "device" else { return .device }
        return .named(name)
    }
}
