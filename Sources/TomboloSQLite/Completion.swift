import Synchronization

/// Something that happens once, and those who wait for it.
final class Completion: Sendable {
    private enum State {
        case pending([CheckedContinuation<Void, Never>])
        case done
    }

    private let state = Mutex(State.pending([]))

    func complete() {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard case .pending(let waiting) = state else { return [] }
            state = .done
            return waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Comes back when it has happened.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state -> Bool in
                guard case .pending(let waiting) = state else { return true }
                state = .pending(waiting + [continuation])
                return false
            }
            if isDone { continuation.resume() }
        }
    }
}
