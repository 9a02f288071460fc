import Glibc

/// What waits for a thread: many put in, one takes all.
///
/// The mutex serialises every access to what it holds, which is why it may claim to be sendable.
final class Mailbox<Element: Sendable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let filled: UnsafeMutablePointer<pthread_cond_t>
    private var waiting: [Element] = []
    private var isClosed = false

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

    /// False where nothing is taken any more.
    func put(_ element: Element) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        guard !isClosed else { return false }
        waiting.append(element)
        if waiting.count == 1 { pthread_cond_signal(filled) }
        return true
    }

    /// Whether nothing waits at this moment.
    var isEmpty: Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return waiting.isEmpty
    }

    /// Takes nothing more; what waits is still given out.
    func close() {
        pthread_mutex_lock(mutex)
        isClosed = true
        pthread_cond_signal(filled)
        pthread_mutex_unlock(mutex)
    }

    /// All that waits, be it nothing; nil when it is closed and empty.
    func takeNow() -> [Element]? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        if waiting.isEmpty, isClosed { return nil }
        defer { waiting = [] }
        return waiting
    }

    /// All that waits, oldest first; stands still while nothing does. nil when it is closed and
    /// empty.
    func take() -> [Element]? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while waiting.isEmpty {
            guard !isClosed else { return nil }
            pthread_cond_wait(filled, mutex)
        }
        defer { waiting = [] }
        return waiting
    }
}
