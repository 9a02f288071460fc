import TomboloEventLog

extension LogReading {
    /// The head of an activity, live or retired; nil if there is none or it is damaged.
    func head(of activity: Int64) throws(EventLogError) -> HeadRow.Found? {
        if let head = try row(.head, activity, HeadRow.head) { return head }
        var found: HeadRow.Found?
        try everyShard(.retired, [activity]) {
            found = HeadRow.head($1, $2)
            return found == nil
        }
        return found
    }
}
