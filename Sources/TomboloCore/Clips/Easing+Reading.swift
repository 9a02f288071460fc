import TomboloJSON

extension Easing {
    /// Reads `easing`: a name, `{"cubicBezier":[x1,y1,x2,y2]}` or
    /// `{"spring":{"duration","bounce"}}`.
    ///
    /// - Parameter duration: the tween's duration; for a named spring, the perceptual duration.
    static func reading(_ reader: inout FieldReader, duration: Span?) -> Easing? {
        guard let view = reader.value("easing") else { return named("default", duration) }
        if let name = view.string {
            if let easing = named(name, duration) { return easing }
            let known = names.map { "\"\($0.0)\"" }.joined(separator: ", ")
            reader.fail("easing", "must be one of \(known), a cubicBezier or a spring")
            return nil
        }
        guard view.kind == .object else {
            reader.fail("easing", "must be a name, a cubicBezier or a spring")
            return nil
        }
        var inner = reader.inside(view, "easing")
        if view["cubicBezier"] != nil, inner.value("spring") != nil {
            inner.fail("spring", "give cubicBezier or spring, not both")
        }
        let easing = curve(&inner) ?? spring(&inner, duration)
        if easing == nil, inner.errors.isEmpty {
            inner.fail("cubicBezier", "give cubicBezier or spring")
        }
        do { try inner.finish() } catch { reader.adopt(error) }
        return easing
    }

    private static func named(_ name: String, _ duration: Span?) -> Easing? {
        guard let easing = names.first(where: { $0.0 == name })?.1 else { return nil }
        guard case .spring(let spring) = easing, let duration else { return easing }
        return .spring(Spring(duration: duration.seconds, bounce: spring.bounce))
    }

    private static func curve(_ reader: inout FieldReader) -> Easing? {
        guard let list = reader.value("cubicBezier") else { return nil }
        let numbers = list.elements.prefix(4).compactMap(\.double)
        guard list.kind == .array, list.count == 4, numbers.count == 4,
            [numbers[0], numbers[2]].allSatisfy(CubicBezier.xRange.contains),
            [numbers[1], numbers[3]].allSatisfy(CubicBezier.yRange.contains)
        else {
            reader.fail(
                "cubicBezier",
                "must be [x1,y1,x2,y2] with x1 and x2 from 0 to 1, y1 and y2 from -1000 to 1000")
            return nil
        }
        return .curve(CubicBezier(numbers[0], numbers[1], numbers[2], numbers[3]))
    }

    private static func spring(_ reader: inout FieldReader, _ duration: Span?) -> Easing? {
        guard let view = reader.object("spring") else { return nil }
        var inner = reader.inside(view, "spring")
        let own = inner.span("duration", in: Tween.durationRange)
        let bounce = inner.double("bounce") ?? 0
        if !Spring.bounceRange.contains(bounce) {
            inner.fail("bounce", "must be from -0.95 to 0.95")
        }
        do { try inner.finish() } catch { reader.adopt(error) }
        return .spring(Spring(duration: (own ?? duration)?.seconds ?? 0.5, bounce: bounce))
    }

    /// Writes the JSON that `reading` reads.
    func write(into writer: inout JSONWriter) {
        writer.object { writer in
            switch self {
            case .curve(let curve):
                writer.array("cubicBezier", of: [curve.x1, curve.y1, curve.x2, curve.y2]) {
                    $0.double($1)
                }
            case .spring(let spring):
                writer.object("spring") { writer in
                    writer.member("duration", spring.span.text)
                    writer.member("bounce", spring.bounce)
                }
            }
        }
    }
}
