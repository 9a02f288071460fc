/// The head of an activity: its newest state, as the core encodes it. The log stores its version
/// and sequence number beside it (`PositionedHead`), and keeps the head at some events as a
/// snapshot.
package struct ActivityHead: Hashable, Sendable {
    package var activity: ActivityNumber
    package let content: HeadContent
    /// True if `ActivityHead.following` makes this head from the previous head and the batch's
    /// events. A log that stores these two may write this head later.
    package var follows: Bool

    /// A head with these bytes.
    package init(activity: ActivityNumber, value: [UInt8], follows: Bool = false) {
        self.init(activity: activity, content: HeadContent(value), follows: follows)
    }

    /// A head whose bytes may be made later.
    package init(activity: ActivityNumber, content: HeadContent, follows: Bool = false) {
        self.activity = activity
        self.content = content
        self.follows = follows
    }

    init(of activity: borrowing Activity, follows: Bool) {
        self.init(
            activity: activity.number, content: HeadContent(activity), follows: follows)
    }

    package var value: [UInt8] { content.bytes }

    /// Compares the encoded bytes.
    package static func == (one: ActivityHead, other: ActivityHead) -> Bool {
        one.activity == other.activity && one.follows == other.follows && one.value == other.value
    }

    /// Hashes the values that `==` compares.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(activity)
        hasher.combine(follows)
        hasher.combine(value)
    }
}
