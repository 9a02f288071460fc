import CLinux
package import Synchronization

extension Mutex {
    /// `withLock`, and the thread sanitizer knows of it: Swift's lock asks the kernel by itself,
    /// where the sanitizer does not see it, and calls the values behind it a race.
    package borrowing func withSeenLock<Result: Sendable>(
        _ body: (inout Value) -> Result
    ) -> Result {
        withLock { value in
            withUnsafeMutablePointer(to: &value) { tombolo_lock_taken($0) }
            defer { withUnsafeMutablePointer(to: &value) { tombolo_lock_given($0) } }
            return body(&value)
        }
    }
}
