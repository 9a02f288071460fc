import CLinux
package import Synchronization

extension Mutex {
    /// Like `withLock`, but the thread sanitizer notices it. Swift's own lock calls the kernel
    /// directly, so that the sanitizer does not see it and reports false races.
    ///
    /// - Parameter place: an address that means this lock and nothing else. The memory
    ///   must exist as long as the lock.
    package borrowing func withSeenLock<Result: Sendable>(
        at place: UnsafeMutableRawPointer, _ body: (inout Value) -> Result
    ) -> Result {
        withLock { value in
            tombolo_lock_taken(place)
            defer { tombolo_lock_given(place) }
            return body(&value)
        }
    }
}
