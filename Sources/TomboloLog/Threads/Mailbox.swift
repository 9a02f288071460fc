import Glibc

/// What waits for a thread: many put in, one takes all.
///
/// The mutex serialises every access to what it holds, which is why it may claim to be sendable.
package final class Mailbox<Element: Sendable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let filled: UnsafeMutablePointer<pthread_cond_t>
    private var waiting: [Element] = []
    private var isClosed = false
    private var hasEnded = false
    private var atEnd: [CheckedContinuation<Void, Never>] = []

    init() {
        mutex = .allocate(capacity: 1)
        filled = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(filled, nil)
    }

    deinit {
        pthread_cond_destroy(filled)
        pthread_mutex_destroy(mutex)
        filled.deallocate()
        mutex.deallocate()
    }

    private func locked<Answer>(_ body: () -> Answer) -> Answer {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    /// False where nothing is taken any more.
    func put(_ element: Element) -> Bool {
        locked {
            guard !isClosed else { return false }
            waiting.append(element)
            if waiting.count == 1 { pthread_cond_signal(filled) }
            return true
        }
    }

    /// Whether nothing waits at this moment.
    var isEmpty: Bool { locked { waiting.isEmpty } }

    /// Takes nothing more; what waits is still given out.
    func close() {
        locked {
            isClosed = true
            pthread_cond_signal(filled)
        }
    }

    /// All that waits, oldest first; nil when it is closed and empty. Where nothing waits the
    /// answer is empty, or the thread sleeps until something does.
    package func take(sleeps: Bool = true) -> [Element]? {
        locked {
            while waiting.isEmpty, sleeps || isClosed {
                guard !isClosed else { return nil }
                pthread_cond_wait(filled, mutex)
            }
            defer { waiting = [] }
            return waiting
        }
    }

    /// The thread is through with all of it.
    func end() {
        let waiting = locked {
            hasEnded = true
            return atEnd
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Comes back when the thread is through.
    func ended() async {
        await withCheckedContinuation { continuation in
            let isOver = locked {
                if !hasEnded { atEnd.append(continuation) }
                return hasEnded
            }
            if isOver { continuation.resume() }
        }
    }
}
