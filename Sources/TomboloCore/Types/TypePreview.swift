package import TomboloJSON

/// What of a type's states is drawn without the app, on the simulated phones of the terminal and
/// the console (`preview` of a type).
///
/// Without it, a phone shows the first members of a state as text.
package struct TypePreview: Hashable, Sendable {
    /// How items on the circle move when the angle changes.
    package enum Moves: String, CaseIterable, Hashable, Sendable {
        /// The angle changes evenly, as with an `Animatable` view: the items stay on the circle.
        case angle
        /// The items move on straight lines, as SwiftUI moves them without an `Animatable` view.
        case places
        /// The items jump.
        case steps
    }

    /// Items on a dashed circle, which turns by an angle.
    package struct Radial: Hashable, Sendable {
        /// Path to the angle in the state, in degrees.
        package var angle: JSONPointer
        /// Number of items, from 1 to `itemsMax`.
        package var items = 3
        /// Length of a dash, in points, on a circle that is 300 points wide.
        package var dash = 11.0
        package var moves = Moves.steps
    }

    /// A small drawing that simulated phones know.
    package enum Symbol: String, CaseIterable, Hashable, Sendable {
        case lock, lockOpen = "lock.open", person, star, bell, car, box
    }

    /// A symbol, or one of two symbols that a true or false value selects.
    package enum Icon: Hashable, Sendable {
        case always(Symbol)
        case by(JSONPointer, isTrue: Symbol, isFalse: Symbol)

        /// The symbol for a state; nil if the place has neither true nor false.
        package func symbol(of state: JSONView) -> Symbol? {
            switch self {
            case .always(let symbol): symbol
            case .by(let place, let isTrue, let isFalse):
                state.at(place)?.bool.map { $0 ? isTrue : isFalse }
            }
        }
    }

    package static let unitBytesMax = 16
    /// Maximum number of items on the circle.
    package static let itemsMax: Int64 = 12

    /// Path to a text or a number in the state.
    package var title: JSONPointer?
    package var subtitle: JSONPointer?
    /// The unit of a subtitle that is a number, such as "min"; drawn after it. In "rank {}" the
    /// braces are the number's place.
    package var unit: String?
    /// Path to a PNG in base64.
    package var image: JSONPointer?
    /// Path to a number from 0 to 1.
    package var progress: JSONPointer?
    /// Path to a date, in the encoding of the type's `dates`.
    package var timer: JSONPointer?
    /// Path to a colour, as "#rrggbb".
    package var tint: JSONPointer?
    package var icon: Icon?
    package var radial: Radial?
    /// Path to the radius of a window's corners, in points.
    package var windowCorner: JSONPointer?

    /// Reads `preview`. Returns nil if it is missing.
    ///
    /// - Parameter schema: the schema of the state. A pointer that it does not have is a fault,
    ///   because nothing would be drawn.
    static func reading(_ reader: inout FieldReader, _ schema: StateSchema?) -> TypePreview? {
        guard let view = reader.object("preview") else { return nil }
        var inner = reader.inside(view, "preview")
        var preview = TypePreview()
        preview.title = pointer("title", &inner, schema)
        preview.subtitle = pointer("subtitle", &inner, schema)
        preview.unit = inner.string("unit")
        if let unit = preview.unit, !(1...unitBytesMax).contains(unit.utf8.count) {
            inner.fail("unit", "must have 1 to \(unitBytesMax) bytes")
        }
        preview.image = pointer("image", &inner, schema)
        preview.progress = pointer("progress", &inner, schema)
        preview.timer = pointer("timer", &inner, schema)
        preview.tint = pointer("tint", &inner, schema)
        preview.icon = icon(&inner, schema)
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
        let items = items(&reader)
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

    /// Reads a number of items, or a text for each item. Returns the number.
    private static func items(_ reader: inout FieldReader) -> Int? {
        guard let view = reader.value("items"), view.kind == .array else {
            return reader.integer("items", in: 1...itemsMax).map { Int($0) }
        }
        guard let texts = view.strings(atMost: Int(itemsMax)), !texts.isEmpty,
            texts.allSatisfy({ (1...itemBytesMax).contains($0.utf8.count) })
        else {
            reader.fail(
                "items", "must be 1 to \(itemsMax), or as many texts of 1 to \(itemBytesMax) bytes")
            return nil
        }
        return texts.count
    }

    /// Maximum number of bytes in an item's text: a family emoji has 25.
    private static let itemBytesMax = 32

    private static func icon(_ reader: inout FieldReader, _ schema: StateSchema?) -> Icon? {
        let symbols = Symbol.allCases.map { ($0.rawValue, $0) }
        guard let view = reader.value("icon"), view.kind == .object else {
            return reader.choice("icon", symbols).map(Icon.always)
        }
        var inner = reader.inside(view, "icon")
        let place = pointer("at", isNeeded: true, &inner, schema)
        let (isTrue, isFalse) = (inner.choice("true", symbols), inner.choice("false", symbols))
        for name in ["true", "false"] where view[name] == nil {
            inner.fail(name, "is missing: one of " + symbols.map(\.0).joined(separator: ", "))
        }
        do { try inner.finish() } catch { reader.adopt(error) }
        guard let place, let isTrue, let isFalse else { return nil }
        return .by(place, isTrue: isTrue, isFalse: isFalse)
    }

    private static func pointer(
        _ name: String, isNeeded: Bool = false, _ reader: inout FieldReader, _ schema: StateSchema?
    ) -> JSONPointer? {
        let text = reader.string(name)
        // If the member is not a text, this fault is noted already.
        guard text != nil || isNeeded && reader.value(name) == nil else { return nil }
        if let fault = StateSchema.fault(ofPointer: text, schema) {
            reader.fail(name, fault)
            return nil
        }
        return text.flatMap(JSONPointer.init)
    }
}
