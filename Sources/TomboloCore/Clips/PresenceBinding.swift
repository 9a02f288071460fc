package import TomboloJSON

/// A value in a type's content states that shows whether the user is in the app (the type's member
/// `presence`), for example for the corners of a window.
///
/// The relay writes it into each device's payload. Producers cannot send it.
package struct PresenceBinding: Sendable {
    /// Place of the value. The producer's state must have no value there, but must have the parent.
    package let path: JSONPointer
    /// The value while the app is in front or covered by the system.
    package let active: JSON
    /// The value after the user has left the app.
    package let inactive: JSON
    private let ends: (active: Animatable, inactive: Animatable)
    private let duration: Span?
    private let easing: Easing

    init(
        path: JSONPointer, active: JSON, inactive: JSON,
        ends: (active: Animatable, inactive: Animatable), duration: Span?, easing: Easing
    ) {
        self.path = path
        self.active = active
        self.inactive = inactive
        self.ends = ends
        self.duration = duration
        self.easing = easing
    }

    /// The final value of a state.
    func rest(inFront: Bool) -> JSON { inFront ? active : inactive }

    /// The animation from the value that the phone shows to the final value.
    func way(inFront: Bool, from value: JSON) -> Tween {
        Tween(
            from: Animatable(value.document.root), to: rest(inFront: inFront),
            animatable: inFront ? ends.active : ends.inactive, duration: duration, easing: easing)
    }

    /// The state with the value in it; unchanged if the parent of `path` is missing.
    func write(_ value: JSON, into state: JSON) -> JSON { state.setting(path, to: value) ?? state }

    /// The state with a value of the maximum size: intermediate numbers have more digits.
    func widened(_ state: JSON) -> JSON {
        let numbers = max(ends.active.components.count, ends.inactive.components.count)
        let bytes = max(active.bytes.count, inactive.bytes.count) + numbers * Self.digitsMax
        return write(
            JSON(
                unchecked: [UInt8(ascii: "\"")] + Array(repeating: UInt8(ascii: "0"), count: bytes)
                    + [UInt8(ascii: "\"")]),
            into: state)
    }

    /// Maximum number of bytes of a number, with sign and exponent.
    private static let digitsMax = 24

    /// Why a state, or a clip that plays at `clip`, is refused; nil if it is allowed.
    func fault(of state: JSON, playing clip: JSONPointer?) -> FieldError? {
        let name = "\(path)"
        if clip == path {
            return FieldError(
                pointer: "/path",
                message:
                    "\(name) follows where the app is, by \"presence\" of the type; play another place"
            )
        }
        if state.document.root.at(path) != nil {
            return FieldError(
                pointer: "/state\(name)",
                message: "is written by the relay, by \"presence\" of the type; leave it out")
        }
        guard state.setting(path, to: active) == nil else { return nil }
        return FieldError(
            pointer: "/state", message: "has no place for \(name); its parent must be there")
    }
}
