package import TomboloLoop

/// Wait before the next connection to an endpoint that fails.
///
/// Opening connections in quick succession may be taken for an attack and blocked (Apple,
/// *Troubleshooting push notifications*). The wait doubles from 1 s to 60 s with each consecutive
/// failure. Half of the wait is random, so that several relays do not connect at the same time.
package struct ReconnectBackOff: Hashable, Sendable {
    package static let first = Duration.seconds(1)
    package static let longest = Duration.seconds(60)

    /// Number of failures since a push was last answered.
    package private(set) var failures = 0
    /// The earliest time for the next attempt; nil means at once.
    package private(set) var notBefore: MonotonicInstant?

    private let most: Duration

    /// - Parameter most: the longest wait.
    package init(atMost most: Duration = Self.longest) { self.most = min(most, Self.longest) }

    /// Notes that a connection was refused, hung, or ended without serving a push. `chance` (any 64
    /// bits) puts the next attempt between half of the wait and the whole wait.
    package mutating func failed(now: MonotonicInstant, chance: UInt64) {
        failures += 1
        let doublings = min(failures - 1, 6)
        let wait = min(Self.first * (1 << doublings), most)
        let part = Double(chance >> 11) / Double(UInt64(1) << 53)
        notBefore = now + (wait / 2 + wait / 2 * part)
    }

    /// Notes that a push was answered, so the endpoint works.
    package mutating func served() {
        failures = 0
        notBefore = nil
    }

    /// True if a connection may be attempted.
    package func allows(now: MonotonicInstant) -> Bool {
        notBefore.map { now >= $0 } ?? true
    }
}
