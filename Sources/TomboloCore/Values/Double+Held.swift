extension Double {
    /// The number, clamped to `range`; the lower bound for NaN.
    func held(in range: ClosedRange<Double>) -> Double {
        if range.contains(self) { return self }
        return self > range.upperBound ? range.upperBound : range.lowerBound
    }
}
