package import TomboloJSON

/// What of a type's content states is drawn where the app itself is not there: on the simulated
/// phones of the terminal and the console. `preview` of a type.
///
/// Without one a phone shows the first members as text.
package struct TypePreview: Hashable, Sendable {
    /// How a phone goes from one turn to the next.
    package enum Moves: String, CaseIterable, Hashable, Sendable {
        /// The angle is interpolated, as an `Animatable` view does: items stay on the circle.
        case angle
        /// The places of both layouts are interpolated in straight lines, as SwiftUI does without
        /// it.
        case places
        /// It jumps.
        case steps
    }

    /// Items on a dashed circle.
    package struct Radial: Hashable, Sendable {
        /// In degrees.
        package var angle: JSONPointer
        /// 1 to `itemsMax`.
        package var items = 3
        /// How long each dash is, in points of a circle that is 300 wide.
        package var dash = 11.0
        package var moves = Moves.steps
    }

    /// More do not fit on the circle.
    package static let itemsMax: Int64 = 12

    /// Any text or number.
    package var title: JSONPointer?
    package var subtitle: JSONPointer?
    /// A PNG in base64.
    package var image: JSONPointer?
    /// A number from 0 to 1.
    package var progress: JSONPointer?
    /// A date, encoded as `dates` of the type says.
    package var timer: JSONPointer?
    /// A colour, "#rrggbb".
    package var tint: JSONPointer?
    package var radial: Radial?
    /// The radius of a window's corners, in points.
    package var windowCorner: JSONPointer?

    /// Reads `preview`; nil where it is not there.
    ///
    /// - Parameter schema: of the state: a pointer that it does not describe is refused, because
    ///   nothing would be drawn.
    static func reading(_ reader: inout FieldReader, _ schema: StateSchema?) -> TypePreview? {
        guard let view = reader.object("preview") else { return nil }
        var inner = reader.inside(view, "preview")
        var preview = TypePreview()
        preview.title = pointer("title", &inner, schema)
        preview.subtitle = pointer("subtitle", &inner, schema)
        preview.image = pointer("image", &inner, schema)
        preview.progress = pointer("progress", &inner, schema)
        preview.timer = pointer("timer", &inner, schema)
        preview.tint = pointer("tint", &inner, schema)
        if let view = inner.object("radial") {
            var radial = inner.inside(view, "radial")
            preview.radial = self.radial(&radial, schema)
            do { try radial.finish() } catch { inner.adopt(error) }
        }
        if let view = inner.object("window") {
            var window = inner.inside(view, "window")
            preview.windowCorner = pointer("corner", isNeeded: true, &window, schema)
            do { try window.finish() } catch { inner.adopt(error) }
        }
        do { try inner.finish() } catch { reader.adopt(error) }
        return preview
    }

    private static func radial(_ reader: inout FieldReader, _ schema: StateSchema?) -> Radial? {
        let angle = pointer("angle", isNeeded: true, &reader, schema)
        let items = reader.integer("items", in: 1...itemsMax).map { Int($0) }
        let dash = reader.double("dash", in: 1...100)
        let moves = reader.choice("moves", Moves.allCases.map { ($0.rawValue, $0) })
        return angle.map { angle in
            var radial = Radial(angle: angle)
            radial.items = items ?? radial.items
            radial.dash = dash ?? radial.dash
            radial.moves = moves ?? radial.moves
            return radial
        }
    }

    private static func pointer(
        _ name: String, isNeeded: Bool = false, _ reader: inout FieldReader, _ schema: StateSchema?
    ) -> JSONPointer? {
        let text = reader.string(name)
        // What is there, and no text, has its fault already.
        guard text != nil || isNeeded && reader.value(name) == nil else { return nil }
        if let fault = StateSchema.fault(ofPointer: text, schema) {
            reader.fail(name, fault)
            return nil
        }
        return text.flatMap(JSONPointer.init)
    }
}
