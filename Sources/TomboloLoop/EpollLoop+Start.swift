import CLinux
import Glibc
import Synchronization

extension EpollLoop {
    /// Runs `body` as the root task of a new loop on the calling thread, and returns its result.
    ///
    /// A program's `main` enters asynchronous code with it. It makes the only unstructured task;
    /// all other tasks are children of that one. `body` and its child tasks run on the loop unless
    /// they ask for another executor.
    package static func run<Value: Sendable>(
        _ body: @escaping @Sendable (EpollLoop) async throws -> Value
    ) throws -> Value {
        let loop = try EpollLoop()
        let outcome = RootOutcome<Value>()
        Task(executorPreference: loop) {
            do {
                let value = try await body(loop)
                outcome.result.withLock { $0 = .success(value) }
            } catch {
                outcome.result.withLock { $0 = .failure(error) }
            }
            loop.stop()
        }
        loop.run()
        guard let result = outcome.result.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }

    /// Starts a loop on a thread of its own, which ends with `stop()`. `top -H` shows `name` (at
    /// most 15 bytes).
    package static func start(name: String) throws(LoopError) -> LoopThread {
        let loop = try EpollLoop()
        let start = ThreadStart(loop: loop, name: String(name.prefix(15)))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                let start = Unmanaged<ThreadStart>.fromOpaque(argument!).takeRetainedValue()
                tombolo_name_thread(start.name)
                start.loop.run()
                return nil
            }, Unmanaged.passRetained(start).toOpaque())
        guard code == 0 else {
            Unmanaged.passUnretained(start).release()
            throw LoopError(call: "pthread_create", errno: code)
        }
        return LoopThread(loop: loop, thread: thread)
    }
}

/// A loop and its thread. Call `stop()` exactly once.
package struct LoopThread: Sendable {
    package let loop: EpollLoop
    private let thread: pthread_t

    fileprivate init(loop: EpollLoop, thread: pthread_t) {
        self.loop = loop
        self.thread = thread
    }

    /// Stops the loop and waits until its thread has ended. Do not call it from the loop itself.
    package func stop() {
        precondition(!loop.isOnLoop, "a thread cannot wait for its own end")
        loop.stop()
        pthread_join(thread, nil)
    }
}

private final class RootOutcome<Value: Sendable>: Sendable {
    let result = Mutex<Result<Value, any Error>?>(nil)
}

private final class ThreadStart: Sendable {
    let loop: EpollLoop
    let name: String

    init(loop: EpollLoop, name: String) {
        self.loop = loop
        self.name = name
    }
}
