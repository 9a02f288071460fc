import TomboloCore
import TomboloEventLog

/// Names of activities, for error texts.
enum ActivityTitles {
    /// For example `activity cat of main (number 7)`; without a readable head only the number.
    static func title(
        _ activity: Int64, _ engine: any LogReading
    ) throws(EventLogError) -> String {
        title(activity, try engine.head(of: activity)?.value ?? [])
    }

    /// Like the function above, from the head's bytes, which may be damaged.
    static func title(_ activity: Int64, _ head: [UInt8]) -> String {
        let damaged = DamagedActivity(
            number: ActivityNumber(activity), version: 0, seq: 0, head: head, tenant: nil,
            reason: "")
        guard let key = damaged.key else { return "activity \(activity)" }
        return "activity \(key.id) of \(key.tenant.name) (number \(activity))"
    }
}
