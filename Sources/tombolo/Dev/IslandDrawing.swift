import TomboloCore
import TomboloCrypto
import TomboloJSON

/// What a terminal phone draws of a content state.
enum IslandDrawing: Hashable, Sendable {
    case picture(Bitmap)
    /// Rows of text.
    case texts([String])
}

/// How the app draws states of its type: `preview` and `dates` of the type. Without a preview it
/// shows the first two members as text.
struct IslandFace: Hashable, Sendable {
    var preview: TypePreview?
    var dates = DateEncoding.swiftReference

    init() {}

    init(_ type: ActivityType) {
        preview = type.preview
        dates = type.dates
    }

    /// The angle of a turn that a state shows, in degrees; nil where its type has none.
    func angle(of state: JSONView) -> Double? {
        preview?.radial.flatMap { state.at($0.angle)?.double }
    }

    /// - Parameter turn: where the items of a turn are now; nil: of the state itself.
    func drawing(of state: JSONView, turn: IslandTurn?, at now: Instant) -> IslandDrawing {
        guard let preview else { return .texts(Self.texts(ofFirst: state)) }
        if let image = preview.image.flatMap({ state.at($0)?.string }),
            let bitmap = Base64.decode(image).flatMap(Bitmap.init(png:))
        {
            return .picture(bitmap)
        }
        if let turn { return .picture(IslandPicture.radial(turn.places)) }
        if let corner = preview.windowCorner.flatMap({ state.at($0)?.double }) {
            return .picture(IslandPicture.window(radius: corner))
        }
        return .texts(texts(preview, state, at: now))
    }

    private func texts(_ preview: TypePreview, _ state: JSONView, at now: Instant) -> [String] {
        var rows = [preview.title, preview.subtitle].compactMap { pointer in
            pointer.flatMap { state.at($0) }.flatMap(Self.text)
        }
        if let part = preview.progress.flatMap({ state.at($0)?.double }), (0...1).contains(part) {
            let full = Int(part * Double(Self.barWidth))
            rows.append(
                "[" + String(repeating: "#", count: full)
                    + String(repeating: " ", count: Self.barWidth - full) + "]")
        }
        if let end = preview.timer.flatMap({ state.at($0) }).flatMap(dates.date) {
            let left = max(0, (end - now).nanoseconds / 1_000_000_000)
            let seconds = "0\(left % 60)".suffix(2)
            rows.append("\(left / 60):\(seconds)")
        }
        return rows
    }

    private static let barWidth = 16

    private static func text(_ value: JSONView) -> String? {
        switch value.kind {
        case .string: IslandPlayer.printable(value.string ?? "", atMost: IslandPlayer.textMax)
        case .number, .bool: String(decoding: value.raw, as: UTF8.self)
        case .null, .array, .object: nil
        }
    }

    private static func texts(ofFirst state: JSONView) -> [String] {
        Array(state.members).filter { $0.0 != "clip" }.prefix(2).map { name, value in
            let text = value.string ?? String(decoding: value.raw, as: UTF8.self)
            return IslandPlayer.printable("\(name): \(text)", atMost: IslandPlayer.textMax)
        }
    }
}

/// Items on a circle at a moment: the angle, and where the items are in a box of 300 by 300.
struct IslandTurn: Hashable, Sendable {
    static let side = 300.0

    var angle: Double
    var places: [SIMD2<Double>]

    /// As the layout has them at an angle.
    init(degrees angle: Double, of items: Int) {
        self.angle = angle
        let layout = RadialLayout(width: Self.side, height: Self.side, count: items)
        // To a thousandth: whole turns are the same picture.
        places = (0..<items).map { item in
            let place = layout.place(of: item, offset: angle * .pi / 180)
            return SIMD2((place.x * 1_000).rounded() / 1_000, (place.y * 1_000).rounded() / 1_000)
        }
    }

    /// A part of the way to another one, as the app of a type goes it.
    func part(_ part: Double, to other: IslandTurn, _ moves: TypePreview.Moves) -> IslandTurn {
        let between = angle + (other.angle - angle) * part
        switch moves {
        case .steps: return other
        case .angle: return IslandTurn(degrees: between, of: other.places.count)
        case .places:
            var turn = other
            turn.angle = between
            turn.places = zip(places, other.places).map { $0 + ($1 - $0) * part }
            return turn
        }
    }

    /// How far the first item is from the centre, in widths of the box.
    var distance: Double {
        let way = (places.first ?? SIMD2(repeating: Self.side / 2)) - Self.side / 2
        return (way * way).sum().squareRoot() / Self.side
    }
}
