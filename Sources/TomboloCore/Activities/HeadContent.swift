/// The content of a head, without the activity's number: its bytes, or a state that is encoded on
/// demand.
///
/// A log that writes heads late encodes few of them: under load, a newer head replaces most of them
/// before their row is written.
package struct HeadContent: Sendable {
    private enum Content: Sendable {
        case bytes([UInt8])
        case state(Shared)
    }

    /// A reference, so that copies of the content share one state.
    private final class Shared: Sendable {
        private let state: HeadState
        init(_ state: consuming HeadState) { self.state = state }

        func bytes() -> [UInt8] { state.bytes() }
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
        let state = activity.headState
        sizeEstimate = state.sizeEstimate
        content = .state(Shared(state))
    }

    /// The bytes. A state is encoded again at each call.
    package var bytes: [UInt8] {
        switch content {
        case .bytes(let bytes): bytes
        case .state(let shared): shared.bytes()
        }
    }
}
