import Glibc

/// Queue of a thread: several threads add elements, one takes them all.
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

    /// Adds an element. Returns false if the mailbox is closed.
    func put(_ element: Element) -> Bool {
        locked {
            guard !isClosed else { return false }
            waiting.append(element)
            if waiting.count == 1 { pthread_cond_signal(filled) }
            return true
        }
    }

    /// True if no element waits now.
    var isEmpty: Bool { locked { waiting.isEmpty } }

    /// Accepts no more elements. Waiting elements can still be taken.
    func close() {
        locked {
            isClosed = true
            pthread_cond_signal(filled)
        }
    }

    /// Takes all waiting elements, oldest first; nil if the mailbox is closed and empty. If none
    /// waits, sleeps until one comes; if `sleeps` is false, returns an empty array instead.
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

    /// Called by the thread when it has processed everything.
    func end() {
        let waiting = locked {
            hasEnded = true
            return atEnd
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until the thread has processed everything.
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
