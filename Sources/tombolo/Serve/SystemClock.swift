import Glibc
import TomboloCore
import TomboloRelay

/// The machine's wall clock, as the program hands it to the rooms.
struct SystemClock: WallClock {
    func now() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
