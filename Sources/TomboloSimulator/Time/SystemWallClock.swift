import Glibc

/// The machine's wall clock, used by phones and Apple's gateway. It is passed to the simulator as a
/// parameter, because no other code here reads a clock.
package enum SystemWallClock {
    package static func now() -> WallInstant {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallInstant(seconds: Int64(time.tv_sec)) + .nanoseconds(time.tv_nsec)
    }
}
