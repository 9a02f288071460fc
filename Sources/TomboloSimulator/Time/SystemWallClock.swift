import Glibc

/// The machine's wall clock: what a phone and Apple's gateway go by. Handed to the simulator as a
/// parameter; nothing else here reads a clock.
package enum SystemWallClock {
    package static func now() -> WallInstant {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallInstant(seconds: Int64(time.tv_sec)) + .nanoseconds(time.tv_nsec)
    }
}
