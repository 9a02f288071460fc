import Synchronization

/// Carries a value to the one thread that will own it, and keeps no hold on it: it ends when that
/// thread lets go.
final class Handover<Value: Sendable>: Sendable {
    private let value: Mutex<Value?>

    init(_ value: Value) { self.value = Mutex(value) }

    /// The value; nil from the second call on.
    func take() -> Value? { value.withLock { $0.take() } }
}
