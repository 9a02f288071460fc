/// A large value that is usually nil. It takes the space of a pointer, and more memory only while
/// it is set. It behaves like the value itself: a change of one copy does not change the others.
@propertyWrapper
struct Seldom<Wrapped: Sendable>: Sendable {
    /// Sendable: only a value that holds the only reference writes, all others read.
    private final class Box: @unchecked Sendable {
        // Unchecked: each access to the box is an access to the wrapper, which the compiler checks
        // already.
        @exclusivity(unchecked) var value: Wrapped
        init(_ value: Wrapped) { self.value = value }
    }

    private var box: Box?

    init(wrappedValue: Wrapped?) { box = wrappedValue.map { Box($0) } }

    var isThere: Bool { box != nil }

    /// The value, read and changed in place. Use it only if `isThere`.
    var value: Wrapped {
        _read {
            guard let box else { preconditionFailure("it is not there") }
            yield box.value
        }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = box.map { Box($0.value) } }
            guard let own = box else { preconditionFailure("it is not there") }
            yield &own.value
        }
    }

    var wrappedValue: Wrapped? {
        get { box?.value }
        set {
            guard let newValue else {
                box = nil
                return
            }
            // In place, if no other copy shares the box.
            if box != nil, isKnownUniquelyReferenced(&box) {
                box?.value = newValue
            } else {
                box = Box(newValue)
            }
        }
    }
}

extension Seldom: Equatable where Wrapped: Equatable {
    static func == (one: Seldom, other: Seldom) -> Bool {
        one.wrappedValue == other.wrappedValue
    }
}

extension Seldom: Hashable where Wrapped: Hashable {
    func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue) }
}
