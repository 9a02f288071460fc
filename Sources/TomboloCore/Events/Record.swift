/// A drawer of small current values beside the log: what must be known at start-up without reading
/// history.
package enum RecordSpace: UInt8, Hashable, Sendable, CaseIterable {
    /// Devices with their tokens, presence and last reports; the number is the device's.
    case device = 1
    /// Pacing marks; the number is the destination's.
    case mark = 2
    /// API keys; the number is the key's.
    case key = 3
    /// The relay's own few values (clock, counters).
    case relay = 4
    /// Types of apps; the number is the type's.
    case type = 6
    /// Pushes that Apple refused for good; the number is the dead letter's.
    case deadLetter = 7
    /// Broadcast channels; the number is the channel's.
    case channel = 8
    /// What phones have had through start tokens that left their devices; numbered by itself.
    case startHistory = 9
    /// Timelines of widgets; the number is the timeline's.
    case timeline = 10
    /// Upstreams to Apple that have taken a push; the number is a hash of tenant, app and
    /// environment.
    case upstream = 11
    /// Where the apps in front are; the number is the device's.
    case presence = 12
    /// What persons did on phones, until it expires; numbered by itself.
    case action = 13
    /// An operator's pauses; the number is the pause's.
    case pause = 16
    /// Reloads that changes of activities owe; the number is the activity's.
    case owedReload = 17
}

/// One current value. The core owns the encoding; the log keeps the bytes and their checksum.
package struct Record: Hashable, Sendable {
    package var space: RecordSpace
    /// 0 to 2^48 - 1.
    package var number: Int64
    /// nil deletes.
    package var value: [UInt8]?

    package init(space: RecordSpace, number: Int64, value: [UInt8]?) {
        self.space = space
        self.number = number
        self.value = value
    }
}
