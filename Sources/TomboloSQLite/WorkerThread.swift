import CLinux
import Glibc

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

    /// Starts the thread; `name` has at most 15 bytes (`comm` of proc(5)). Signals stay with the other threads.
    init(name: String, run: @escaping @Sendable () -> Void) {
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
        precondition(code == 0, "a thread can be started: \(String(cString: strerror(code)))")
        self.thread = thread
    }

    /// Waits until `run` has returned. Once, and not from the thread itself.
    func join() { pthread_join(thread, nil) }
}
