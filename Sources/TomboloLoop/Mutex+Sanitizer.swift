import CLinux
package import Synchronization

extension Mutex {
    /// `withLock`, and the thread sanitizer knows of it: Swift's lock asks the kernel by itself,
    /// where the sanitizer does not see it, and calls the values behind it a race.
    ///
    /// - Parameter place: stands for the lock; an address that lives as long, and serves no other.
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
