/// A value that is mostly absent and large when it is there: it takes a pointer's room, and memory
/// of its own only while it is there.
///
/// Behaves as the value itself would: copies do not see each other's changes.
@propertyWrapper
struct Seldom<Wrapped: Sendable>: Sendable {
    /// Sendable: whoever writes to it holds the only reference, and all others only read.
    private final class Box: @unchecked Sendable {
        // Unchecked: the box belongs to the one value that it stands in, whose own accesses are
        // checked.
        @exclusivity(unchecked) var value: Wrapped?
        init(_ value: Wrapped?) { self.value = value }

        /// An optional that is there begins with what is in it.
        var place: UnsafePointer<Wrapped> {
            withUnsafeMutablePointer(to: &value) {
                UnsafeRawPointer($0).assumingMemoryBound(to: Wrapped.self)
            }
        }
    }

    private var box: Box?

    init(wrappedValue: Wrapped?) { box = wrappedValue.map { Box($0) } }

    var isThere: Bool { box != nil }

    /// The value where it stands, for whoever asks for a part of it: taken out of its optional all
    /// of it would be copied. Only while it is there.
    var lent: Wrapped {
        unsafeAddress { place }
    }

    /// Where it stands, as long as nobody changes it.
    var place: UnsafePointer<Wrapped> {
        guard let box else { preconditionFailure("it is not there") }
        return box.place
    }

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

extension Seldom: Equatable where Wrapped: Equatable {
    static func == (one: Seldom, other: Seldom) -> Bool {
        one.wrappedValue == other.wrappedValue
    }
}

extension Seldom: Hashable where Wrapped: Hashable {
    func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue) }
}
