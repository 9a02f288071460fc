import TomboloJSON

/// The content of a head: its bytes, or a snapshot that is encoded on demand.
///
/// A log that writes heads late encodes few of them: under load, a newer head replaces most of them
/// before their row is written.
package struct HeadValue: Sendable {
    private enum Content: Sendable {
        case bytes([UInt8])
        case snapshot(Shared)
    }

    /// A reference, so that copies of the value share one snapshot.
    private final class Shared: Sendable {
        private let snapshot: ActivitySnapshot
        init(_ snapshot: consuming ActivitySnapshot) { self.snapshot = snapshot }

        func bytes() -> [UInt8] { snapshot.bytes() }
    }

    private let content: Content
    /// Approximate memory use in bytes.
    package let sizeEstimate: Int

    /// A head that is encoded already.
    package init(_ bytes: [UInt8]) {
        content = .bytes(bytes)
        sizeEstimate = bytes.count
    }

    /// The head of an activity's present state, encoded on demand.
    init(_ activity: borrowing Activity) {
        let snapshot = activity.snapshot
        sizeEstimate = snapshot.sizeEstimate
        content = .snapshot(Shared(snapshot))
    }

    /// The bytes. A snapshot is encoded again at each call.
    package var bytes: [UInt8] {
        switch content {
        case .bytes(let bytes): bytes
        case .snapshot(let shared): shared.bytes()
        }
    }
}
