package import TomboloJSON

/// A value of a type's content states that depends on where the app is: `presence` of a type, used
/// for example for the corners of a window.
///
/// The relay writes it into each device's payload. It is not part of the projected state, and
/// producers cannot send it.
package struct PresenceBinding: Sendable {
    /// Place of the value, where the state itself has nothing.
    package let path: JSONPointer
    /// The value while the app is in front or covered.
    package let active: JSON
    /// The value after the app is left.
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

    /// The value without animation.
    func rest(inFront: Bool) -> JSON { inFront ? active : inactive }

    /// The animation to one of the values, from a shown value.
    func way(inFront: Bool, from value: JSON) -> Tween {
        Tween(
            from: Animatable(value.document.root), to: rest(inFront: inFront),
            animatable: inFront ? ends.active : ends.inactive, duration: duration, easing: easing)
    }

    /// The state with the value in it; the state itself if it has no place for it.
    func write(_ value: JSON, into state: JSON) -> JSON { state.setting(path, to: value) ?? state }

    /// The state with the longest possible value: intermediate numbers have more digits.
    func widened(_ state: JSON) -> JSON {
        let numbers = max(ends.active.components.count, ends.inactive.components.count)
        let bytes = max(active.bytes.count, inactive.bytes.count) + numbers * Self.digitsMax
        return write(
            JSON(
                unchecked: [UInt8(ascii: "\"")] + Array(repeating: UInt8(ascii: "0"), count: bytes)
                    + [UInt8(ascii: "\"")]),
            into: state)
    }

    /// Most bytes of a number, with sign and exponent.
    private static let digitsMax = 24

    /// Why a state or a clip is refused; nil if it is not refused.
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
