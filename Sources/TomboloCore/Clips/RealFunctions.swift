/// Exponential and trigonometric functions, because `TomboloCore` may not use the C library.
///
/// Accurate to a few units in the last place for arguments up to about a million. All machines give
/// the same results, so a clip that is rebuilt from the log is the same.
package enum RealFunctions {
    private static let logarithmOfTwoHigh = 0x1.62e42fefa0000p-1
    private static let logarithmOfTwoLow = 0x1.cf79abc9e3b3ap-40
    private static let halfPiHigh = 0x1.921fb54400000p+0
    private static let halfPiLow = 0x1.0b4611a626331p-34

    /// e to the power of `x`, clamped to 0 and the largest finite number.
    package static func exp(_ x: Double) -> Double {
        if x < -745 { return 0 }
        if x > 709 { return .greatestFiniteMagnitude }
        let power = (x / 0.693_147_180_559_945_3).rounded()
        let rest = (x - power * logarithmOfTwoHigh) - power * logarithmOfTwoLow
        var term = 1.0
        var sum = 1.0
        for degree in 1...16 {
            term *= rest / Double(degree)
            sum += term
        }
        return sum * Double(sign: .plus, exponent: Int(power), significand: 1)
    }

    /// Sine and cosine of `x` in radians. Both, because callers need both.
    package static func sineAndCosine(_ x: Double) -> (sine: Double, cosine: Double) {
        // Such a large number is exact to a turn only, so its angle means nothing.
        guard x.magnitude < 1e15 else { return (0, 1) }
        let turns = (x / 1.570_796_326_794_896_6).rounded()
        let rest = (x - turns * halfPiHigh) - turns * halfPiLow
        let square = rest * rest
        var sine = rest
        var cosine = 1.0
        var sineTerm = rest
        var cosineTerm = 1.0
        for step in 1...9 {
            let even = Double(2 * step)
            cosineTerm *= -square / ((even - 1) * even)
            sineTerm *= -square / (even * (even + 1))
            cosine += cosineTerm
            sine += sineTerm
        }
        switch ((Int64(turns) % 4) + 4) % 4 {
        case 0: return (sine, cosine)
        case 1: return (cosine, -sine)
        case 2: return (-sine, -cosine)
        default: return (-cosine, sine)
        }
    }
}
