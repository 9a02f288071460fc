import Glibc

/// The real time of day, which certificates are checked against.
func currentUnixTime() -> Int64 { Int64(time(nil)) }

/// What the processor has spent on this thread, in seconds.
func threadSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
