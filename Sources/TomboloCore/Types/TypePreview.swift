package import TomboloJSON

/// The parts of a type's content states that are drawn without the app: on the simulated phones of
/// the terminal and the console. Given as `preview` of a type.
///
/// Without a preview, a phone shows the first members as text.
package struct TypePreview: Hashable, Sendable {
    /// How a phone animates from one turn to the next.
    package enum Moves: String, CaseIterable, Hashable, Sendable {
        /// The angle is interpolated, as an `Animatable` view does: items stay on the circle.
        case angle
        /// The places of both layouts are interpolated in straight lines, as SwiftUI does without
        /// an `Animatable` view.
        case places
        /// The items jump.
        case steps
    }

    /// Items on a dashed circle.
    package struct Radial: Hashable, Sendable {
        /// In degrees.
        package var angle: JSONPointer
        /// 1 to `itemsMax`.
        package var items = 3
        /// The length of each dash, in points of a circle that is 300 wide.
        package var dash = 11.0
        package var moves = Moves.steps
    }

    /// A small drawing that phones know.
    package enum Symbol: String, CaseIterable, Hashable, Sendable {
        case lock, lockOpen = "lock.open", person, star, bell, car, box
    }

    /// A fixed symbol, or one of two by a flag of the state.
    package enum Icon: Hashable, Sendable {
        case always(Symbol)
        case by(JSONPointer, isTrue: Symbol, isFalse: Symbol)

        /// The symbol for a state; nil if the flag's place has no true or false.
        package func symbol(of state: JSONView) -> Symbol? {
            switch self {
            case .always(let symbol): symbol
            case .by(let place, let isTrue, let isFalse):
                state.at(place)?.bool.map { $0 ? isTrue : isFalse }
            }
        }
    }

    /// The most items that fit on the circle.
    package static let itemsMax: Int64 = 12

    /// A text or a number.
    package var title: JSONPointer?
    package var subtitle: JSONPointer?
    /// A PNG in base64.
    package var image: JSONPointer?
    /// A number from 0 to 1.
    package var progress: JSONPointer?
    /// A date, encoded by `dates` of the type.
    package var timer: JSONPointer?
    /// A colour, "#rrggbb".
    package var tint: JSONPointer?
    package var icon: Icon?
    package var radial: Radial?
    /// The radius of a window's corners, in points.
    package var windowCorner: JSONPointer?

    /// Reads `preview`; nil if it is absent.
    ///
    /// - Parameter schema: of the state. A pointer that it does not describe is refused, because
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

    /// Reads a number of items, or a text for each.
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

    /// A family emoji has 25 bytes.
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
        // A member that is present but no text already has its fault.
        guard text != nil || isNeeded && reader.value(name) == nil else { return nil }
        if let fault = StateSchema.fault(ofPointer: text, schema) {
            reader.fail(name, fault)
            return nil
        }
        return text.flatMap(JSONPointer.init)
    }
}
