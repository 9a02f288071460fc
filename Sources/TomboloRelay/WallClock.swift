package import TomboloCore

/// The machine's wall clock, which people and time servers may set.
package protocol WallClock: Sendable {
    /// The machine's current time; it may jump in either direction.
    func now() -> Instant

    /// Name of the origin of the loop's monotonic clock; on Linux, a boot of the machine. The
    /// difference of two readings with the same name is the time between them, even in different
    /// processes. Empty if unknown.
    var boot: String { get }
}

extension WallClock {
    package var boot: String { "" }
}
