import CLinux
import Glibc
package import TomboloEventLog

/// A thread with a queue of jobs. Work that may wait for the disk runs here, not on an event loop.
package final class WorkerThread<Job: Sendable>: Sendable {
    package typealias Asking<Answer> = CheckedContinuation<Result<Answer, EventLogError>, Never>

    private let jobs = Mailbox<Job>()
    private let thread: pthread_t

    /// - Parameters:
    ///   - name: at most 15 bytes (`comm` of proc(5)).
    ///   - work: the thread's work. What only this closure retains is released on the thread.
    ///   - ended: called after that.
    ///
    /// The thread handles no signals. Throws `.unusable` if the system has no thread left.
    package init(
        name: String, work: @escaping @Sendable (Mailbox<Job>) -> Void,
        ended: @escaping @Sendable () -> Void = {}
    ) throws(EventLogError) {
        let jobs = jobs
        let body = Unmanaged.passRetained(
            ThreadBody(name: name, work: { work(jobs) }) {
                ended()
                jobs.end()
            })
        var blocked = sigset_t()
        var before = sigset_t()
        sigfillset(&blocked)
        pthread_sigmask(SIG_SETMASK, &blocked, &before)
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let body = Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue()
                tombolo_name_thread(body.name)
                body.work?()
                body.work = nil
                body.ended()
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

    deinit {
        jobs.close()
        pthread_join(thread, nil)
    }

    /// Runs a job and returns its answer, on the caller's executor. Throws `.closed` after `close`.
    package func answer<Answer: Sendable>(
        to job: (Asking<Answer>) -> Job
    ) async throws(EventLogError) -> Answer {
        try await withCheckedContinuation { continuation in
            if !jobs.put(job(continuation)) { continuation.resume(returning: .failure(.closed)) }
        }.get()
    }

    /// Accepts no further jobs, and waits until the queued ones, and finally `last`, are done.
    func close(with last: Job? = nil) async {
        if let last { _ = jobs.put(last) }
        jobs.close()
        await jobs.ended()
    }
}

private final class ThreadBody {
    let name: String
    var work: (() -> Void)?
    let ended: () -> Void

    init(name: String, work: @escaping () -> Void, ended: @escaping () -> Void) {
        (self.name, self.work, self.ended) = (name, work, ended)
    }
}

/// A reader's thread. It runs queries in order, one at a time.
typealias LogReaderThread = WorkerThread<@Sendable (LogReader) -> Void>

extension LogReaderThread {
    convenience init(_ reader: LogReader, name: String) throws(EventLogError) {
        try self.init(name: name) { questions in
            while let next = questions.take() {
                for question in next { question(reader) }
            }
        }
    }

    func ask<Answer: Sendable>(
        _ question: @escaping @Sendable (LogReader) throws(EventLogError) -> Answer
    ) async throws(EventLogError) -> Answer {
        try await answer { (continuation: Asking<Answer>) in
            { reader in
                var answer = Result { () throws(EventLogError) in try question(reader) }
                if case .failure = answer, reader.engine.renew() {
                    answer = Result { () throws(EventLogError) in try question(reader) }
                }
                continuation.resume(returning: answer)
            }
        }
    }
}
