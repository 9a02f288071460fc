import TomboloJSON

/// What a head holds: its bytes, or the activity that they are made of when somebody asks.
///
/// A log that writes heads later asks for few: under load most are followed by another before
/// their row is written.
package struct HeadValue: Sendable {
    private enum Content: Sendable {
        case bytes([UInt8])
        case activity(Standing)
    }

    /// An activity as it stood.
    private final class Standing: Sendable {
        let activity: Activity
        init(_ activity: Activity) { self.activity = activity }
    }

    private let content: Content
    /// About how many bytes of memory it keeps.
    package let sizeEstimate: Int

    /// Those bytes.
    package init(_ bytes: [UInt8]) {
        content = .bytes(bytes)
        sizeEstimate = bytes.count
    }

    /// An activity, as its present state says.
    init(_ activity: borrowing Activity) {
        content = .activity(Standing(copy activity))
        sizeEstimate =
            512 + activity.accepted.state.bytes.count + activity.definition.attributes.bytes.count
    }

    /// Made anew with each call, where they are not there yet.
    package var bytes: [UInt8] {
        switch content {
        case .bytes(let bytes): bytes
        case .activity(let standing): standing.activity.headBytes()
        }
    }
}
