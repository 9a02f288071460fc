/// A value that is mostly absent and large when it is there: it takes a pointer's room, and memory
/// of its own only while it is there.
///
/// Behaves as the value itself would: copies do not see each other's changes.
@propertyWrapper
struct Seldom<Wrapped: Sendable>: Sendable {
    /// Sendable: whoever writes to it holds the only reference, and all others only read.
    private final class Box: @unchecked Sendable {
        var value: Wrapped?
        init(_ value: Wrapped?) { self.value = value }
    }

    private var box: Box?

    init(wrappedValue: Wrapped?) { box = wrappedValue.map { Box($0) } }

    var wrappedValue: Wrapped? {
        get { box?.value }
        set {
            guard let newValue else {
                box = nil
                return
            }
            // In place, where nobody else looks at it; what stood there is not copied.
            if box != nil, isKnownUniquelyReferenced(&box) {
                box?.value = newValue
            } else {
                box = Box(newValue)
            }
        }
        _modify {
            // Changed in place, where nobody else looks at it.
            if box == nil || !isKnownUniquelyReferenced(&box) { box = Box(box?.value) }
            let own = box ?? Box(nil)
            yield &own.value
            if own.value == nil { box = nil }
        }
    }
}
