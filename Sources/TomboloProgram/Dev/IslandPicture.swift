import TomboloCore

/// Pictures for an island: items on a circle, or a window with round corners.
enum IslandPicture {
    private static let size = (width: 48, height: 32)

    /// Items on a dashed circle. `places` are coordinates in a square of side `IslandTurn.side`.
    static func radial(_ places: [SIMD2<Double>]) -> Bitmap {
        let scale = SIMD2(33.0, 32.0) / IslandTurn.side
        let left = SIMD2((Double(size.width) - 33) / 2, 0)
        let dashes = RadialLayout(width: 33, height: 32, count: 48)
        var lit = Set<SIMD2<Int>>()
        for dash in 0..<48 where dash % 4 < 2 {
            let place = dashes.place(of: dash, offset: 0)
            lit.insert(SIMD2(Int((left.x + place.x).rounded()), Int(place.y.rounded())))
        }
        let items = places.map { left + $0 * scale }
        return Bitmap(width: size.width, height: size.height) { x, y in
            // Draw the first item as a ring, so that a rotation is visible.
            for (index, item) in items.enumerated() {
                let way = SIMD2(Double(x), Double(y)) - item
                let distance = (way * way).sum()
                if distance <= 16 { return index > 0 || distance > 6 }
            }
            return lit.contains(SIMD2(x, y))
        }
    }

    /// The outline of a window with round corners.
    static func window(radius: Double) -> Bitmap {
        let (halfWidth, halfHeight) = (20.0, 13.0)
        let corner = min(max(0, radius), 12)
        return Bitmap(width: size.width, height: size.height) { x, y in
            let dx = abs(Double(x) - Double(size.width - 1) / 2) - (halfWidth - corner)
            let dy = abs(Double(y) - Double(size.height - 1) / 2) - (halfHeight - corner)
            // Distance of the pixel from the edge of the rounded rectangle; negative inside.
            let outside = (max(dx, 0) * max(dx, 0) + max(dy, 0) * max(dy, 0)).squareRoot()
            let distance = outside + min(max(dx, dy), 0) - corner
            return distance > -1.2 && distance <= 0
        }
    }
}
