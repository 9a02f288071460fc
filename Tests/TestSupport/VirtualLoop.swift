import CEscapeWatch
import Glibc
import Synchronization
package import TomboloLoop

/// A loop whose time passes only when nothing is left to do: an hour of waiting costs nothing, and
/// the same seed runs the same jobs in the same order.
///
/// Jobs that are ready at one moment, and timers of one moment, run in an order drawn from the
/// seed; so does the length of turns. That chance serves nothing else: the world of a simulation
/// has a generator of its own. Three nets catch what leaves it: a job that comes from another
/// thread, a job that the runtime gives to its pool, and a body that is neither done nor waiting
/// for any timer.
package final class VirtualLoop: Loop, @unchecked Sendable {
    // Sendable: all of it belongs to the thread that made it; `strangers` alone is under a mutex.

    /// How a run came to its end.
    package enum End: Hashable, Sendable {
        case finished
        /// Nothing is ready, no timer is set, and the body has not ended: something was lost.
        case idle
        /// The body had not ended by then.
        case outOfTime, outOfJobs
    }

    private struct Strangers {
        var jobs: [UnownedJob] = []
        var count = 0
    }

    package private(set) var now = MonotonicInstant(nanoseconds: 0)
    package private(set) var jobsRun = 0
    package private(set) var timersFired = 0
    /// Jobs that another thread enqueued, or that were given to the runtime's pool.
    package private(set) var escapes = 0
    /// Says of a timer that it is lost: a mutant. Nil: none is.
    package var losesTimer: ((any TimerTarget) -> Bool)?

    private let thread = pthread_self()
    private let strangers = Mutex(Strangers())
    private var ready: [UnownedJob] = []
    private var timers = TimerHeap()
    private var turnTargets: [any TurnTarget] = []
    private var chance: SplitMix64
    private var isDone = false

    package init(seed: UInt64) { chance = SplitMix64(seed: seed) }

    // MARK: The loop's face

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        guard pthread_equal(pthread_self(), thread) != 0 else {
            strangers.withLock { strangers in
                strangers.jobs.append(job)
                strangers.count += 1
            }
            return
        }
        ready.append(job)
    }

    package func checkIsolated() {
        precondition(pthread_equal(pthread_self(), thread) != 0, "not on the virtual loop")
    }

    package func isIsolatingCurrentContext() -> Bool? {
        pthread_equal(pthread_self(), thread) != 0
    }

    package func schedule(at: MonotonicInstant, _ target: any TimerTarget) -> TimerID {
        if let losesTimer, losesTimer(target) { return TimerID() }
        return timers.add(at: at, tie: chance.next(), target)
    }

    package func cancel(_ id: TimerID) { timers.cancel(id) }

    package func atEndOfTurn(_ target: any TurnTarget) { turnTargets.append(target) }

    // MARK: Running

    /// Runs `body` as the root task until it ends, or until one of the bounds; once in a loop's
    /// life.
    ///
    /// - Parameters:
    ///   - end: virtual time goes no further.
    ///   - jobsMax: a run that never comes to rest ends here.
    package func run(
        until end: MonotonicInstant, jobsMax: Int, _ body: @escaping @Sendable () async -> Void
    ) -> End {
        escape_watch_install()
        escape_watch_set(1)
        defer { escape_watch_set(0) }
        // The root: every other task is its child.
        Task(executorPreference: self) { [self] in
            await body()
            isDone = true
        }
        let how = pump(until: end, jobsMax: jobsMax)
        escapes = strangers.withLock { $0.count } + Int(escape_watch_take())
        return how
    }

    private func pump(until end: MonotonicInstant, jobsMax: Int) -> End {
        let serial = asUnownedSerialExecutor()
        let task = asUnownedTaskExecutor()
        while !isDone {
            takeStrangers()
            if !ready.isEmpty {
                guard jobsRun < jobsMax else { return .outOfJobs }
                jobsRun += 1
                let place = Int(chance.next(below: UInt64(ready.count)))
                ready.swapAt(place, ready.count - 1)
                ready.removeLast().runSynchronously(isolatedTo: serial, taskExecutor: task)
                // A real turn is cut after so many jobs, and ends though some are ready.
                if chance.next(below: 16) == 0 { endTurn() }
            } else if !turnTargets.isEmpty {
                endTurn()
            } else if let next = timers.first() {
                guard next <= end else { return .outOfTime }
                now = max(now, next)
                timersFired += 1
                timers.pop(until: now)?.timerFired()
            } else {
                return .idle
            }
        }
        return .finished
    }

    /// Lets go of everything that still waits for its time, when a run is over: what it refers to
    /// refers to this loop.
    package func close() {
        timers = TimerHeap()
        turnTargets = []
        losesTimer = nil
    }

    private func endTurn() {
        let targets = turnTargets
        turnTargets = []
        for target in targets { target.turnEnded() }
    }

    private func takeStrangers() {
        strangers.withLock { strangers in
            guard !strangers.jobs.isEmpty else { return }
            ready += strangers.jobs
            strangers.jobs = []
        }
    }
}
