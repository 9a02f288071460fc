package import TomboloJSON

/// A value between whose variants a tween can interpolate: a number, an angle, a vector, a colour,
/// or an object of these. Angles are numbers and add up: 0 → 180 → 360 → 540, never modulo, never
/// the shortest way. A vector is an array of 1 to 4 numbers; a colour is `#rrggbb` or `#rrggbbaa`.
package struct Animatable: Hashable, Sendable {
    /// The structure of the value without its numbers.
    private indirect enum Shape: Hashable, Sendable {
        case number
        case vector(Int)
        case colour(hasAlpha: Bool)
        case object([Member])

        var count: Int {
            switch self {
            case .number: 1
            case .vector(let count): count
            case .colour(let hasAlpha): hasAlpha ? 4 : 3
            case .object(let members): members.reduce(0) { $0 + $1.shape.count }
            }
        }
    }

    private struct Member: Hashable, Sendable {
        var name: String
        var shape: Shape
    }

    private let shape: Shape
    /// All numbers of the value in order; a colour's are from 0 to 255. None exceeds `courseMax`.
    package let components: [Double]

    /// Largest number that a producer may send.
    package static let componentMax = 1e12
    /// Limit for intermediate values and for speed: a spring may overshoot its ends.
    static let courseMax = 1e15

    /// Maximum number of components in an animated value, because a payload has at most 4 KB.
    package static let componentsMax = 64

    /// Returns nil if `view` is or contains a value that cannot be interpolated, or has too many
    /// components.
    package init?(_ view: JSONView) {
        var components: [Double] = []
        guard let shape = Self.shape(view, &components), components.count <= Self.componentsMax
        else { return nil }
        self.shape = shape
        self.components = components
    }

    private init(_ shape: Shape, _ components: [Double]) {
        self.shape = shape
        self.components = components
    }

    /// True if the value can be animated to the other.
    package func hasShape(of other: Animatable) -> Bool { shape == other.shape }

    /// The value with its object members in the order of `other`, because JSON objects have no
    /// order. Nil if the value cannot be animated to the other.
    package func arranged(as other: Animatable) -> Animatable? {
        Self.arranged(shape, components[...], as: other.shape)
            .map { Animatable(other.shape, $0) }
    }

    private static func arranged(
        _ shape: Shape, _ components: ArraySlice<Double>, as other: Shape
    ) -> [Double]? {
        guard case .object(let members) = shape, case .object(let others) = other else {
            return shape == other ? Array(components) : nil
        }
        guard members.count == others.count else { return nil }
        var parts: [String: (shape: Shape, components: ArraySlice<Double>)] = [:]
        var rest = components
        for member in members {
            let count = member.shape.count
            parts[member.name] = (member.shape, rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        var result: [Double] = []
        for member in others {
            guard let part = parts[member.name],
                let numbers = arranged(part.shape, part.components, as: member.shape)
            else { return nil }
            result += numbers
        }
        return result
    }

    /// A value of the same structure with these numbers, clamped to `courseMax`.
    package func with(_ components: [Double]) -> Animatable {
        Animatable(shape, components.map { $0.held(in: -Self.courseMax...Self.courseMax) })
    }

    /// The nearest value that a producer could have sent: numbers clamped to `componentMax`,
    /// colours with whole components. If its `exactJSON` is read, the result is the same value.
    var asGiven: Animatable {
        let held = components.map { $0.held(in: -Self.componentMax...Self.componentMax) }
        let value = Animatable(shape, held)
        return Animatable(value.exactJSON.document.root) ?? value
    }

    /// The JSON for a push: numbers are rounded to a thousandth, colour components to whole numbers
    /// from 0 to 255.
    package var json: JSON {
        let rounded = components.map { ($0 * 1_000).rounded() / 1_000 }
        return with(rounded).exactJSON
    }

    /// The JSON with all digits. A head stores it as the start of a tween that replaced a running
    /// one.
    var exactJSON: JSON {
        var writer = JSONWriter()
        var rest = components[...]
        Self.write(shape, &rest, into: &writer)
        return writer.json
    }

    // MARK: Reading

    private static func shape(_ view: JSONView, _ components: inout [Double]) -> Shape? {
        switch view.kind {
        case .number:
            guard let number = number(view) else { return nil }
            components.append(number)
            return .number
        case .array:
            guard (1...4).contains(view.count) else { return nil }
            let numbers = view.elements.compactMap(number)
            guard numbers.count == view.count else { return nil }
            components += numbers
            return .vector(numbers.count)
        case .string:
            guard let colour = colour(view.string ?? "") else { return nil }
            components += colour
            return .colour(hasAlpha: colour.count == 4)
        case .object:
            var members: [Member] = []
            for (name, value) in view.members {
                guard let shape = shape(value, &components) else { return nil }
                members.append(Member(name: name, shape: shape))
            }
            return members.isEmpty ? nil : .object(members)
        case .bool, .null: return nil
        }
    }

    private static func number(_ view: JSONView) -> Double? {
        guard let number = view.double, number.magnitude <= componentMax else { return nil }
        return number
    }

    private static func colour(_ text: String) -> [Double]? {
        let digits = text.utf8.dropFirst()
        guard text.utf8.first == UInt8(ascii: "#"), digits.count == 6 || digits.count == 8 else {
            return nil
        }
        guard let number = UInt32(String(decoding: digits, as: UTF8.self), radix: 16) else {
            return nil
        }
        let shifts: [UInt32] = digits.count == 8 ? [24, 16, 8, 0] : [16, 8, 0]
        return shifts.map { Double(number >> $0 & 0xff) }
    }

    // MARK: Writing

    private static func write(
        _ shape: Shape, _ components: inout ArraySlice<Double>, into writer: inout JSONWriter
    ) {
        switch shape {
        case .number: write(components.popFirst() ?? 0, into: &writer)
        case .vector(let count):
            writer.array(of: 0..<count) { writer, _ in
                write(components.popFirst() ?? 0, into: &writer)
            }
        case .colour(let hasAlpha):
            var text = "#"
            for _ in 0..<(hasAlpha ? 4 : 3) {
                let part = UInt8(min(255, max(0, (components.popFirst() ?? 0).rounded())))
                text += (part < 16 ? "0" : "") + String(part, radix: 16)
            }
            writer.string(text)
        case .object(let members):
            writer.object { writer in
                for member in members {
                    writer.named(member.name) { write(member.shape, &components, into: &$0) }
                }
            }
        }
    }

    private static func write(_ number: Double, into writer: inout JSONWriter) {
        if let whole = Int64(exactly: number) {
            writer.integer(whole)
        } else {
            writer.double(number)
        }
    }
}
