package import TomboloLoop

/// How long to wait before the next connection to an endpoint that does not serve.
///
/// Opening connections in quick succession may be taken for an attack and blocked (Apple,
/// *Troubleshooting push notifications*). The wait doubles from 1 s to 60 s with each failure in a
/// row; half of it is by chance, so that several relays do not knock together.
package struct ReconnectBackOff: Hashable, Sendable {
    package static let first = Duration.seconds(1)
    package static let longest = Duration.seconds(60)

    /// Failures since something was last served.
    package private(set) var failures = 0
    /// No connection is tried before this; nil: at once.
    package private(set) var notBefore: MonotonicInstant?

    private let most: Duration

    /// - Parameter most: no wait is longer.
    package init(atMost most: Duration = Self.longest) { self.most = min(most, Self.longest) }

    /// A connection was refused, hung, or ended before it served any push. `chance` is any 64 bits.
    ///
    /// The next try is between half of the wait and the whole of it away.
    package mutating func failed(now: MonotonicInstant, chance: UInt64) {
        failures += 1
        let doublings = min(failures - 1, 6)
        let wait = min(Self.first * (1 << doublings), most)
        let part = Double(chance >> 11) / Double(UInt64(1) << 53)
        notBefore = now + (wait / 2 + wait / 2 * part)
    }

    /// A push was answered: whoever is there serves.
    package mutating func served() {
        failures = 0
        notBefore = nil
    }

    /// Whether a connection may be tried.
    package func allows(now: MonotonicInstant) -> Bool {
        notBefore.map { now >= $0 } ?? true
    }
}
