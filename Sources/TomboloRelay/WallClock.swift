package import TomboloCore

/// The machine's wall clock: people and time servers move it.
package protocol WallClock: Sendable {
    /// The machine's idea of the time; it may jump either way.
    func now() -> Instant
}
