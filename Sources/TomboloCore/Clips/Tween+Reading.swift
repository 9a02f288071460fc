import TomboloJSON

extension Tween {
    /// Reads the object under `tween`. The clip reads the members `path` and `clock`.
    init?(reading reader: inout FieldReader) {
        let to = reader.value("to")
        let end = to.flatMap(Animatable.init)
        let what = "a number, an array of numbers, a colour \"#rrggbb\", or an object of these"
        if end == nil { reader.fail("to", to == nil ? "is missing: \(what)" : "must be \(what)") }
        let from = reader.value("from")
        let given = from.flatMap(Animatable.init)
        if from != nil, given == nil { reader.fail("from", "must be \(what)") }
        let start = end.flatMap { given?.arranged(as: $0) }
        if given != nil, end != nil, start == nil {
            reader.fail("from", "must be of the same kind as to, with the same members")
        }
        let duration = reader.span("duration", in: Self.durationRange)
        let every = reader.span("every", in: Flipbook.everyRange) ?? Self.everyStandard
        let easing = Easing.reading(&reader, duration: duration)
        let unit = reader.choice("unit", AngleUnit.choices)
        guard let to, let end, let easing else { return nil }
        self.init(
            from: start, to: to.json, animatable: end, duration: duration, easing: easing,
            every: every, unit: unit)
    }

    /// Writes the members that `init(reading:)` reads, without the braces around them.
    func writeMembers(into writer: inout JSONWriter) {
        if let from { writer.member("from", from.exactJSON) }
        writer.member("to", last)
        if let duration { writer.member("duration", duration.text) }
        writer.member("every", every.text)
        if let unit { writer.member("unit", unit.name) }
        writer.named("easing") { easing.write(into: &$0) }
    }
}
