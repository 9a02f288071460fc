/// A value that is usually absent, and large when present: it takes the space of a pointer, and
/// memory of its own only while present.
///
/// Behaves like the value itself: copies do not see each other's changes.
@propertyWrapper
struct Seldom<Wrapped: Sendable>: Sendable {
    /// Sendable: a writer holds the only reference, and all others only read.
    private final class Box: @unchecked Sendable {
        // Unchecked: the box belongs to the one value that contains it, and accesses to that value
        // are checked.
        @exclusivity(unchecked) var value: Wrapped
        init(_ value: Wrapped) { self.value = value }
    }

    private var box: Box?

    init(wrappedValue: Wrapped?) { box = wrappedValue.map { Box($0) } }

    var isThere: Bool { box != nil }

    /// The value itself, read and changed in place. Only while it is present.
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
            // In place, if nothing else refers to the box.
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
