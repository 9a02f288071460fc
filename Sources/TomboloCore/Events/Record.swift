/// A space of small present values beside the log, so that start-up need not read the history.
package enum RecordSpace: UInt8, Hashable, Sendable, CaseIterable {
    /// Devices with their tokens, presence and last reports; the number is the device's.
    case device = 1
    /// Pacing checkpoints; the number is the destination's.
    case mark = 2
    /// API keys; the number is the key's.
    case key = 3
    /// The relay's own few values (clock, counters).
    case relay = 4
    /// Types of apps; the number is the type's.
    case type = 6
    /// Pushes that Apple finally refused; the number is the dead letter's.
    case deadLetter = 7
    /// Broadcast channels; the number is the channel's.
    case channel = 8
    /// Histories of phones' starts whose tokens have left their devices; numbered on their own.
    case startHistory = 9
    /// Timelines of widgets; the number is the timeline's.
    case timeline = 10
    /// Upstreams to Apple that have accepted a push; the number is a hash of tenant, app and
    /// environment.
    case upstream = 11
    /// Presence of apps that are in front; the number is the device's.
    case presence = 12
    /// Users' actions on phones until they expire; numbered on their own.
    case action = 13
    /// An operator's pauses; the number is the pause's.
    case pause = 16
    /// Reloads that are owed after changes of activities; the number is the activity's.
    case owedReload = 17
}

/// One present value. The core encodes it; the log stores the bytes and their checksum.
package struct Record: Hashable, Sendable {
    package var space: RecordSpace
    /// 0 to 2^48 - 1.
    package var number: Int64
    /// nil deletes the record.
    package var value: [UInt8]?

    package init(space: RecordSpace, number: Int64, value: [UInt8]?) {
        self.space = space
        self.number = number
        self.value = value
    }
}
