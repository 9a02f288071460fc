import CLinux
import Synchronization

/// Something that happens once, and those who wait for it.
final class Completion: Sendable {
    private enum State {
        case pending([CheckedContinuation<Void, Never>])
        case done
    }

    private let state = Mutex(State.pending([]))

    /// Stands for the lock where the thread sanitizer is told of it: it does not see Swift's.
    private var seenPlace: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    func complete() {
        let place = seenPlace
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            tombolo_lock_taken(place)
            defer { tombolo_lock_given(place) }
            guard case .pending(let waiting) = state else { return [] }
            state = .done
            return waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Comes back when it has happened.
    func wait() async {
        await withCheckedContinuation { continuation in
            let place = seenPlace
            let isDone = state.withLock { state -> Bool in
                tombolo_lock_taken(place)
                defer { tombolo_lock_given(place) }
                guard case .pending(let waiting) = state else { return true }
                state = .pending(waiting + [continuation])
                return false
            }
            if isDone { continuation.resume() }
        }
    }
}
