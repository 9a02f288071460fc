package import TomboloCore

/// The machine's wall clock, which people and time servers may set.
package protocol WallClock: Sendable {
    /// The machine's present time. It may jump in either direction.
    func now() -> Instant

    /// Names the origin of the loop's monotonic clock; on Linux, one boot of the machine. If two
    /// readings have the same name, their difference is the time between them, even in different
    /// processes. Empty if unknown.
    var boot: String { get }

    /// What the monotonic clock with another origin says now: that of the machine on which the last
    /// relay ran. Nil if unknown.
    func monotonic(ofBoot boot: String) -> Int64?
}

extension WallClock {
    package var boot: String { "" }
    package func monotonic(ofBoot boot: String) -> Int64? { nil }
}
