import CLinux
import Glibc
import TomboloEventLog

/// A thread of our own: what may wait for the disk stands beside the loops and never on them.
final class WorkerThread: Sendable {
    private final class Body: Sendable {
        let name: String
        let run: @Sendable () -> Void

        init(name: String, run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    private let thread: pthread_t

    /// Starts the thread; `name` has at most 15 bytes (`comm` of proc(5)). Signals stay with the
    /// other threads. Throws `.unusable` where the system has no thread left.
    init(name: String, run: @escaping @Sendable () -> Void) throws(EventLogError) {
        let body = Unmanaged.passRetained(Body(name: name, run: run))
        var blocked = sigset_t()
        var before = sigset_t()
        sigfillset(&blocked)
        pthread_sigmask(SIG_SETMASK, &blocked, &before)
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
                tombolo_name_thread(body.name)
                body.run()
                return nil
            }, body.toOpaque())
        pthread_sigmask(SIG_SETMASK, &before, nil)
        guard code == 0 else {
            body.release()
            throw .unusable(
                cause: "no thread for the log: \(String(cString: strerror(code)))",
                hint: "raise the limit of threads and processes (`ulimit -u`, `TasksMax=`)")
        }
        self.thread = thread
    }

    /// Waits until `run` has returned. Once, and not from the thread itself.
    func join() { pthread_join(thread, nil) }
}
