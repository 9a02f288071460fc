import TomboloJSON

extension Clip {
    init?(reading reader: inout FieldReader) {
        fit = reader.choice("fit", Fit.choices) ?? .auto
        urgency = reader.choice("urgency", Urgency.choices) ?? .normal
        let flipbook = reader.object("flipbook")
        let tween = reader.object("tween")
        guard (flipbook == nil) != (tween == nil), let view = flipbook ?? tween else {
            reader.fail(
                flipbook == nil && reader.has("tween") ? "tween" : "flipbook",
                flipbook == nil
                    ? "is missing: {\"path\",\"frames\",\"every\",\"loop\"}, or a tween: "
                        + "{\"path\",\"from\",\"to\",\"duration\",\"easing\"}"
                    : "give flipbook or tween, not both")
            return nil
        }
        var inner = reader.inside(view, flipbook == nil ? "tween" : "flipbook")
        let path = Self.path(&inner)
        clock = inner.choice("clock", [("wall", .wall), ("shown", .shown)]) ?? .wall
        let motion =
            flipbook == nil
            ? Tween(reading: &inner).map(Motion.tween)
            : Flipbook(reading: &inner, view: view).map(Motion.flipbook)
        do { try inner.finish() } catch { reader.adopt(error) }
        switch (fit, motion) {
        case (.bundle, .tween?):
            reader.fail("fit", "a tween has no frames to bundle; take \"keyframes\"")
        case (.keyframes, .flipbook?):
            reader.fail("fit", "a flip-book has nothing between its frames; take \"bundle\"")
        default: break
        }
        guard let path, let motion else { return nil }
        self.path = path
        self.motion = motion
    }

    private static func path(_ reader: inout FieldReader) -> JSONPointer? {
        guard let value = reader.value("path") else {
            reader.fail("path", "is missing: a JSON Pointer into the state, such as \"/image\"")
            return nil
        }
        if let pointer = value.string.flatMap(JSONPointer.init), !pointer.tokens.isEmpty {
            return pointer
        }
        reader.fail("path", "must be a JSON Pointer into the state, such as \"/image\"")
        return nil
    }

    /// Writes the JSON that `init(reading:)` reads.
    func write(into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("urgency", urgency.name)
            if fit != .auto { writer.member("fit", fit.name) }
            switch motion {
            case .flipbook: writer.name("flipbook")
            case .tween: writer.name("tween")
            }
            writer.object { writer in
                writer.member("path", path.description)
                writer.member("clock", clock == .wall ? "wall" : "shown")
                switch motion {
                case .flipbook(let flipbook): flipbook.writeMembers(into: &writer)
                case .tween(let tween): tween.writeMembers(into: &writer)
                }
            }
        }
    }
}
