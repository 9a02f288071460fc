import TomboloJSON

/// What a head holds: its bytes, or the snapshot that they are made of when somebody asks.
///
/// A log that writes heads later asks for few: under load most are followed by another before
/// their row is written.
package struct HeadValue: Sendable {
    private enum Content: Sendable {
        case bytes([UInt8])
        case snapshot(Shared)
    }

    /// Copies of the value share one snapshot.
    private final class Shared: Sendable {
        private let snapshot: ActivitySnapshot
        init(_ snapshot: consuming ActivitySnapshot) { self.snapshot = snapshot }

        func bytes() -> [UInt8] { snapshot.bytes() }
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
        let snapshot = activity.snapshot
        sizeEstimate = snapshot.sizeEstimate
        content = .snapshot(Shared(snapshot))
    }

    /// Made anew with each call, where they are not there yet.
    package var bytes: [UInt8] {
        switch content {
        case .bytes(let bytes): bytes
        case .snapshot(let shared): shared.bytes()
        }
    }
}
