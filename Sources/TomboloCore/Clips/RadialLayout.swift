/// Items on a circle, for the scenario `radial`, which turns the circle. Item 0 is at the bottom (y
/// grows downwards); the others follow clockwise.
package struct RadialLayout: Hashable, Sendable {
    package var width: Double
    package var height: Double
    /// Number of items: at least 1.
    package var count: Int

    package init(width: Double, height: Double, count: Int) {
        self.width = width
        self.height = height
        self.count = count
    }

    package var radius: Double { width / 3 }

    /// - Parameter offset: angle by which the circle is turned, in radians. It may exceed 2π.
    package func place(of item: Int, offset: Double) -> (x: Double, y: Double) {
        let angle = 2 * Double.pi * Double(item) / Double(max(1, count)) + offset
        let (sine, cosine) = RealFunctions.sineAndCosine(angle)
        return (width / 2 - radius * sine, height / 2 + radius * cosine)
    }

    /// Number of keyframes on an arc such that straight lines between them leave it by at most
    /// `tolerance`. The sagitta of a chord over the angle α is r·(1 − cos(α/2)).
    package func keyframes(turning radians: Double, tolerance: Double) -> Int {
        let arc = radians.magnitude
        for count in 1..<360 {
            let half = arc / Double(count) / 2
            let sagitta = radius * (1 - RealFunctions.sineAndCosine(half).cosine)
            if half < Double.pi / 2, sagitta <= tolerance { return count + 1 }
        }
        return 360
    }
}
