import TomboloCore

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
