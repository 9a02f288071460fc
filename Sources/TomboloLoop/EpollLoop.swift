import CLinux
import Glibc
import Synchronization

/// The loop of a running program: one thread that waits in epoll and runs jobs, timers and
/// readiness callbacks.
///
/// A turn has these steps: wait, read the clock, report ready descriptors, take the jobs of other
/// threads, fire due timers, run jobs, make the end-of-turn calls. Jobs run for `turnMax` at
/// most, so that busy actors cannot hold up sockets and timers. Waits are as exact as the kernel's
/// high-resolution timers and never end early. A job that is enqueued after the loop has stopped
/// never runs, so stop the loop after its tasks have ended.
///
/// ```swift
/// let answer = try EpollLoop.run { loop in
///     try await loop.sleep(for: .milliseconds(1))
///     return 42  // on the loop's thread, as all that it runs
/// }
/// ```
package final class EpollLoop: Loop, @unchecked Sendable {
    // Sendable: only the loop's own thread uses the properties below, except `thread` (atomic),
    // `remote` (a mutex) and `wakeup` (a descriptor that never changes).

    /// The last job of a turn begins within this time, in nanoseconds: 5 ms. Sockets and timers
    /// wait at most this long plus one job.
    package static let turnMax: Int64 = 5_000_000

    private struct Remote {
        var jobs: [UnownedJob] = []
        var isWoken = false
        var isStopping = false
    }

    private let epoll: Int32
    private let wakeup: Int32
    private let thread = Atomic<UInt>(0)
    private let remote = Mutex(Remote())

    /// Kept behind a pointer, because it is read many times in a turn, and the run-time check for
    /// exclusive access to a property would cost more than the reads.
    private let clock: UnsafeMutablePointer<MonotonicInstant>
    private var ready: [UnownedJob] = []
    private var running: [UnownedJob] = []
    private var timers = TimerHeap()
    private var timersScheduled: UInt64 = 0
    private var turnTargets: [any TurnTarget] = []
    private var calledTargets: [any TurnTarget] = []
    private var isStopping = false
    package private(set) var isBehind = false
    private var registry: DescriptorRegistry

    /// Throws if the process has no free descriptors. From now on the whole process ignores SIGPIPE
    /// and SIGXFSZ, so that writing to a closed connection fails with an error instead of ending
    /// the process.
    package init() throws(LoopError) {
        tombolo_ignore_write_signals()
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw LoopError(call: "epoll_create1", errno: errno) }
        wakeup = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard wakeup >= 0 else {
            let code = errno
            close(epoll)
            throw LoopError(call: "eventfd", errno: code)
        }
        registry = DescriptorRegistry(epoll: epoll)
        clock = .allocate(capacity: 1)
        clock.initialize(to: Self.readClock())
        try registry.addWakeup(wakeup)
    }

    deinit {
        if wakeup >= 0 { close(wakeup) }
        if epoll >= 0 { close(epoll) }
        clock.deallocate()
    }

    package var now: MonotonicInstant { clock.pointee }

    private static func readClock() -> MonotonicInstant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicInstant(
            nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    // MARK: Executor

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isOnLoop {
            ready.append(job)
            return
        }
        let mustWake = remote.withSeenLock(at: clock) { remote in
            remote.jobs.append(job)
            defer { remote.isWoken = true }
            return !remote.isWoken
        }
        if mustWake { wake() }
    }

    /// True if the caller is on this loop's thread while it runs.
    package var isOnLoop: Bool { pthread_self() == thread.load(ordering: .relaxed) }

    package func checkIsolated() {
        precondition(isOnLoop, "this belongs to the loop's own thread")
    }

    package func isIsolatingCurrentContext() -> Bool? { isOnLoop }

    // MARK: Timers and turns

    package func schedule(at: MonotonicInstant, _ target: any TimerTarget) -> TimerID {
        checkIsolated()
        timersScheduled += 1
        return timers.add(at: at, tie: timersScheduled, target)
    }

    package func cancel(_ id: TimerID) {
        checkIsolated()
        timers.cancel(id)
    }

    package func atEndOfTurn(_ target: any TurnTarget) {
        checkIsolated()
        turnTargets.append(target)
    }

    // MARK: Running

    /// Runs the loop on the calling thread until `stop()`.
    package func run() {
        let (free, _) = thread.compareExchange(
            expected: 0, desired: pthread_self(), ordering: .sequentiallyConsistent)
        precondition(free, "the loop runs already")
        defer { thread.store(0, ordering: .sequentiallyConsistent) }
        let serial = asUnownedSerialExecutor()
        let task = asUnownedTaskExecutor()
        while !isStopping {
            waitForReadiness()
            fireTimers()
            runJobs(serial, task)
            endTurn()
        }
        isStopping = false
    }

    /// Ends `run()` after the current turn. May be called from any thread, and before `run()`.
    package func stop() {
        if isOnLoop {
            isStopping = true
            return
        }
        remote.withSeenLock(at: clock) { $0.isStopping = true }
        wake()
    }

    private func wake() {
        var one: UInt64 = 1
        // It fails only if the counter is full. Then the loop wakes up anyway.
        _ = write(wakeup, &one, 8)
    }

    /// Fires at most as many timers as exist at the start: a timer that sets itself again for the
    /// present instant must not keep jobs from running.
    private func fireTimers() {
        var left = timers.liveCount
        while left > 0, let target = timers.pop(until: now) {
            target.timerFired()
            left -= 1
        }
    }

    private func runJobs(_ serial: UnownedSerialExecutor, _ task: UnownedTaskExecutor) {
        defer { isBehind = !ready.isEmpty }
        guard !ready.isEmpty else { return }
        let end = Self.readClock().nanoseconds + Self.turnMax
        while !ready.isEmpty, !isStopping {
            swap(&running, &ready)
            for place in running.indices {
                running[place].runSynchronously(isolatedTo: serial, taskExecutor: task)
                guard Self.readClock().nanoseconds < end else {
                    // The jobs that are left run before newer ones.
                    ready.insert(contentsOf: running[(place + 1)...], at: 0)
                    running.removeAll(keepingCapacity: true)
                    return
                }
            }
            running.removeAll(keepingCapacity: true)
        }
    }

    private func endTurn() {
        guard !turnTargets.isEmpty else { return }
        swap(&calledTargets, &turnTargets)
        for target in calledTargets { target.turnEnded() }
        calledTargets.removeAll(keepingCapacity: true)
    }

    private func waitForReadiness() {
        let wasWoken = registry.wait(nanoseconds: timeout())
        clock.pointee = Self.readClock()
        // Look up each target just before its call, as an earlier target may have deregistered it.
        for position in 0..<registry.readyCount {
            guard let (target, readiness) = registry.target(at: position) else { continue }
            target.becameReady(readiness)
        }
        // After what sockets begin: a job of another thread may be a batch of the log, which is
        // long, and a short request would wait behind it for one more turn.
        if wasWoken { takeRemote() }
    }

    private func timeout() -> Int64 {
        guard ready.isEmpty, turnTargets.isEmpty else { return 0 }
        guard let first = timers.first() else { return -1 }
        return max(0, first.nanoseconds - Self.readClock().nanoseconds)
    }

    private func takeRemote() {
        var count: UInt64 = 0
        // This resets the counter, whose value does not matter.
        _ = read(wakeup, &count, 8)
        remote.withSeenLock(at: clock) { remote in
            remote.isWoken = false
            ready.append(contentsOf: remote.jobs)
            remote.jobs.removeAll(keepingCapacity: true)
            if remote.isStopping {
                remote.isStopping = false
                isStopping = true
            }
        }
    }

    // MARK: Descriptors

    /// Calls `target` when `descriptor` is ready (level-triggered), until `deregister`. The loop
    /// retains `target` until then. The caller still owns the descriptor, and must deregister it
    /// before closing it.
    package func register(
        _ descriptor: Int32, _ interest: Readiness, _ target: any ReadinessTarget
    ) throws(LoopError) {
        checkIsolated()
        try registry.register(descriptor, interest, target)
    }

    /// Changes what a registered descriptor is watched for. Errors and hang-ups are reported even
    /// if `interest` is empty.
    package func modify(_ descriptor: Int32, _ interest: Readiness) {
        checkIsolated()
        registry.modify(descriptor, interest)
    }

    /// Ends the calls for a descriptor. Nor is readiness that was found in this turn.
    package func deregister(_ descriptor: Int32) {
        checkIsolated()
        registry.deregister(descriptor)
    }
}
