import Synchronization
package import TomboloEventLog

/// Until when the owner of a log may assume that no other relay has taken it. It ends a second
/// before another relay may take the log, and each heartbeat and commit that succeeds renews it.
///
/// The owner's row protects the log, whatever this says. This protects phones: a relay that was
/// stopped and wakes must not send pushes that it decided before.
package final class PostgresTrust: Sendable {
    private static let margin = 1.0

    let clock: PostgresClock
    /// Seconds without a heartbeat after which another relay may take the log.
    let lease: Double
    private let until: Atomic<UInt64>
    private let loss = Mutex<EventLogError?>(nil)

    init(_ clock: @escaping PostgresClock, lease: Double) {
        (self.clock, self.lease) = (clock, lease)
        until = Atomic(0.0.bitPattern)
        renew(from: clock())
    }

    /// Notes a success that began at `start`.
    func renew(from start: Double) {
        // Bits of positive numbers have the order of the numbers.
        let end = max(0, start + lease - Self.margin).bitPattern
        until.max(end, ordering: .releasing)
    }

    /// True while nobody else can have taken the log.
    package var holds: Bool {
        clock() < Double(bitPattern: until.load(ordering: .acquiring))
    }

    func lose(_ error: EventLogError) { loss.withLock { $0 = $0 ?? error } }

    /// The error of a relay that no longer owns its log; nil while it owns it.
    package var lost: EventLogError? { loss.withLock { $0 } }
}
