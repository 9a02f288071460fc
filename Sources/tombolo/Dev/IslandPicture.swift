import TomboloCore
import TomboloCrypto
import TomboloJSON

/// What the app of a scenario would draw for a content state: a frame of the cat, three avatars on
/// a circle, or a window with its corners.
enum IslandPicture {
    /// As large as the island's inside.
    private static let size = (width: 48, height: 32)

    /// Nil for a state of no scenario.
    static func of(_ state: JSONView) -> Bitmap? {
        if let image = state["image"]?.string {
            return Base64.decode(image).flatMap(Bitmap.init(png:))
        }
        if let offset = state["offset"]?.double { return radial(degrees: offset) }
        if let radius = state["radius"]?.double { return window(radius: radius) }
        return nil
    }

    /// Three avatars on a dashed circle, turned.
    private static func radial(degrees: Double) -> Bitmap {
        let layout = RadialLayout(width: 33, height: 32, count: 3)
        let dashes = RadialLayout(width: 33, height: 32, count: 48)
        let left = (Double(size.width) - layout.width) / 2
        let turn = degrees * .pi / 180
        // To a thousandth of a pixel: whole turns are the same picture.
        let avatars = (0..<3).map { index in
            let place = layout.place(of: index, offset: turn)
            return (x: (place.x * 1_000).rounded() / 1_000, y: (place.y * 1_000).rounded() / 1_000)
        }
        var lit = Set<SIMD2<Int>>()
        for dash in 0..<48 where dash % 4 < 2 {
            let place = dashes.place(of: dash, offset: 0)
            lit.insert(SIMD2(Int((left + place.x).rounded()), Int(place.y.rounded())))
        }
        return Bitmap(width: size.width, height: size.height) { x, y in
            // The first avatar is a ring, so that a turn can be told.
            for (index, avatar) in avatars.enumerated() {
                let (dx, dy) = (Double(x) - left - avatar.x, Double(y) - avatar.y)
                let distance = dx * dx + dy * dy
                if distance <= 16 { return index > 0 || distance > 6 }
            }
            return lit.contains(SIMD2(x, y))
        }
    }

    /// The outline of a window.
    private static func window(radius: Double) -> Bitmap {
        let (halfWidth, halfHeight) = (20.0, 13.0)
        let corner = min(max(0, radius), 12)
        return Bitmap(width: size.width, height: size.height) { x, y in
            let dx = abs(Double(x) - Double(size.width - 1) / 2) - (halfWidth - corner)
            let dy = abs(Double(y) - Double(size.height - 1) / 2) - (halfHeight - corner)
            // How far outside of the rounded rectangle's edge (below zero: inside) a pixel is.
            let outside = (max(dx, 0) * max(dx, 0) + max(dy, 0) * max(dy, 0)).squareRoot()
            let distance = outside + min(max(dx, dy), 0) - corner
            return distance > -1.2 && distance <= 0
        }
    }
}
