import CLinux
package import Synchronization

extension Mutex {
    /// `withLock` that is visible to the thread sanitizer. Swift's lock calls the kernel directly,
    /// so the sanitizer does not see it and reports races.
    ///
    /// - Parameter place: an address that represents the lock. It must live as long as the lock,
    ///   and be used for no other.
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
