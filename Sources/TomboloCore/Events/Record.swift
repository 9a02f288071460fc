import TomboloJSON

/// Spaces for small values that are stored beside the log. Start-up reads them instead of the
/// history.
package enum RecordSpace: UInt8, Hashable, Sendable, CaseIterable {
    /// Devices with their tokens, and the owners of deleted devices; the number is the device's.
    case device = 1
    /// Pacing checkpoints; the number is the destination's.
    case checkpoint = 2
    /// API keys; the number is the key's.
    case key = 3
    /// The relay's own values (clock, counters).
    case relay = 4
    /// Types of apps; the number is the type's.
    case type = 6
    /// Pushes that Apple finally refused; the number is the dead letter's.
    case deadLetter = 7
    /// Broadcast channels; the number is the channel's.
    case channel = 8
    /// Histories of starts of phones that have lost a token or a device; numbered separately.
    case startHistory = 9
    /// Timelines of widgets; the number is the timeline's.
    case timeline = 10
    /// Upstreams that have accepted a push; the number is a hash of tenant, app and environment.
    case upstream = 11
    /// Presence of apps in front; the number is the device's.
    case presence = 12
    /// Idempotency keys of users' actions; numbered separately.
    case action = 13
    /// Operators' pauses; the number is the pause's.
    case pause = 16
    /// Reloads of widgets that changed activities require; the number is the activity's.
    case owedReload = 17
}

/// One value in a space. The core encodes it; the log stores the bytes and their checksum.
package struct Record: Hashable, Sendable {
    package var space: RecordSpace
    /// From 0 to 2⁴⁸−1.
    package var number: Int64
    /// nil deletes the record.
    package var value: [UInt8]?

    package init(space: RecordSpace, number: Int64, value: [UInt8]?) {
        self.space = space
        self.number = number
        self.value = value
    }

    /// A record whose value is a JSON object with the members that `write` writes.
    init(space: RecordSpace, number: Int64, _ write: (inout JSONWriter) -> Void) {
        self.init(space: space, number: number, value: JSONWriter.objectBytes(write))
    }
}
