import Glibc

/// What this thread's processor spends on `work`: others on the machine do not count.
func processorSeconds(_ work: () throws -> Void) rethrows -> Double {
    func read() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
    let start = read()
    try work()
    return read() - start
}
