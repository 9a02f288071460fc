import TomboloJSON

extension PresenceBinding {
    /// Reads `presence`. Returns nil if it is missing or faulty.
    ///
    /// - Parameter schema: the schema of the state. A path that it does not have is a fault,
    ///   because the phone would ignore the value.
    static func reading(
        _ reader: inout FieldReader, _ schema: StateSchema?
    ) -> PresenceBinding? {
        guard let view = reader.object("presence") else { return nil }
        var inner = reader.inside(view, "presence")
        let text = inner.string("path")
        let fault = StateSchema.fault(ofPointer: text, schema)
        if let fault { inner.fail("path", fault) }
        let path = fault == nil ? text.flatMap(JSONPointer.init) : nil
        let values = ["active", "inactive"].map { name in
            let value = inner.value(name)
            let end = value.flatMap(Animatable.init)
            if end == nil {
                inner.fail(
                    name,
                    "must be a number, an array of numbers, a colour \"#rrggbb\", or an object of "
                        + "these")
            }
            return (value?.json, end)
        }
        let inactive = values[0].1.flatMap { values[1].1?.arranged(as: $0) }
        if inactive == nil, inner.errors.isEmpty {
            inner.fail("inactive", "must be of the same kind as active, with the same members")
        }
        let duration = inner.span("duration", in: Tween.durationRange)
        let easing = Easing.reading(&inner, duration: duration)
        do { try inner.finish() } catch { reader.adopt(error) }
        guard let path, let first = values[0].0, let second = values[1].0, let end = values[0].1,
            let inactive, let easing
        else { return nil }
        return PresenceBinding(
            path: path, active: first, inactive: second, ends: (end, inactive), duration: duration,
            easing: easing)
    }
}
