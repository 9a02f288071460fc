/// The newest projected state of an activity, as the core encodes it; the log adds version and
/// sequence.
package struct ActivityHead: Hashable, Sendable {
    package var activity: ActivityNumber
    package let content: HeadValue
    /// It is what `ActivityHead.following` makes of the head before and the batch's events: a log
    /// that keeps both may write it later.
    package var follows: Bool

    /// A head as these bytes have it.
    package init(activity: ActivityNumber, value: [UInt8], follows: Bool = false) {
        self.init(activity: activity, content: HeadValue(value), follows: follows)
    }

    /// A head whose bytes may be made later.
    package init(activity: ActivityNumber, content: HeadValue, follows: Bool = false) {
        self.activity = activity
        self.content = content
        self.follows = follows
    }

    /// That of an activity as it stands.
    init(of activity: borrowing Activity, follows: Bool) {
        self.init(
            activity: activity.number, content: HeadValue(activity), follows: follows)
    }

    /// The bytes of its content.
    package var value: [UInt8] { content.bytes }

    /// By their bytes.
    package static func == (one: ActivityHead, other: ActivityHead) -> Bool {
        one.activity == other.activity && one.follows == other.follows && one.value == other.value
    }

    /// Over what `==` compares.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(activity)
        hasher.combine(follows)
        hasher.combine(value)
    }
}
