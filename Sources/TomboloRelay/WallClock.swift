package import TomboloCore

/// The machine's wall clock: people and time servers move it.
package protocol WallClock: Sendable {
    /// The machine's idea of the time; it may jump either way.
    func now() -> Instant

    /// Names the origin of the loop's monotonic clock, on Linux a boot of the machine: two readings
    /// under one name tell how much time has passed between them, also in different processes.
    /// Empty: it is not known.
    var boot: String { get }
}

extension WallClock {
    package var boot: String { "" }
}
