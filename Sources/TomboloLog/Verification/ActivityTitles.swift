import TomboloCore
import TomboloEventLog

/// Readable titles of activities.
enum ActivityTitles {
    /// `activity cat of main (number 7)`; without the id if no head has it.
    static func title(
        _ activity: Int64, _ engine: any LogReading
    ) throws(EventLogError) -> String {
        title(activity, try engine.head(of: activity)?.value ?? [])
    }

    /// The same from the bytes of its head, even if they are damaged.
    static func title(_ activity: Int64, _ head: [UInt8]) -> String {
        let damaged = DamagedActivity(
            number: ActivityNumber(activity), version: 0, seq: 0, head: head, tenant: nil,
            reason: "")
        guard let key = damaged.key else { return "activity \(activity)" }
        return "activity \(key.id) of \(key.tenant.name) (number \(activity))"
    }
}
