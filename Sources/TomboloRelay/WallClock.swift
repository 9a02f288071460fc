package import TomboloCore

/// The machine's wall clock: people and time servers move it.
package protocol WallClock: Sendable {
    func now() -> Instant
}
