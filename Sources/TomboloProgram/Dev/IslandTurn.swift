import TomboloCore

/// Items on a circle: the angle, and the items' coordinates in a square of 300 by 300.
struct IslandTurn: Hashable, Sendable {
    static let side = 300.0

    var angle: Double
    var places: [SIMD2<Double>]

    init(degrees angle: Double, of items: Int) {
        self.angle = angle
        let layout = RadialLayout(width: Self.side, height: Self.side, count: items)
        // Round to a thousandth, so that full rotations give the same picture.
        places = (0..<items).map { item in
            let place = layout.place(of: item, offset: angle * .pi / 180)
            return SIMD2((place.x * 1_000).rounded() / 1_000, (place.y * 1_000).rounded() / 1_000)
        }
    }

    /// The state between this one and `other`, at a fraction of the way, by the type's motion.
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

    /// Distance of the first item from the centre, as a fraction of the square's side.
    var distance: Double {
        let way = (places.first ?? SIMD2(repeating: Self.side / 2)) - Self.side / 2
        return (way * way).sum().squareRoot() / Self.side
    }
}
