package import TomboloJSON

/// A value of a type's content states that follows where the app is: `presence` of a type, as the
/// corners of a window do.
///
/// The relay writes it into what each device is sent; it is no part of the projected state, and
/// producers cannot send it.
package struct PresenceBinding: Sendable {
    /// Where it goes; the state has nothing there.
    package let path: JSONPointer
    /// While the app is in front, or covered.
    package let active: JSON
    /// Once the app is left.
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

    /// The value at rest.
    func rest(inFront: Bool) -> JSON { inFront ? active : inactive }

    /// The way to one end from a value that is shown.
    func way(inFront: Bool, from value: JSON) -> Tween {
        Tween(
            from: Animatable(value.document.root), to: rest(inFront: inFront),
            animatable: inFront ? ends.active : ends.inactive, duration: duration, easing: easing)
    }

    /// A state with a value in it; the state itself where there is no place for one.
    func write(_ value: JSON, into state: JSON) -> JSON { state.setting(path, to: value) ?? state }

    /// The state at its largest: on its way a number has more digits than at its ends.
    func widened(_ state: JSON) -> JSON {
        let numbers = max(ends.active.components.count, ends.inactive.components.count)
        let bytes = max(active.bytes.count, inactive.bytes.count) + numbers * Self.digitsMax
        return write(
            JSON(
                unchecked: [UInt8(ascii: "\"")] + Array(repeating: UInt8(ascii: "0"), count: bytes)
                    + [UInt8(ascii: "\"")]),
            into: state)
    }

    /// Of a number as it is written, with sign and exponent.
    private static let digitsMax = 24

    /// Why a state or a clip is refused; nil where it is not.
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
