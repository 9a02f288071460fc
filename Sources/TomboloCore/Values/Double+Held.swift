extension Double {
    /// The number, or the nearest bound if it is outside `range`; the lower bound for NaN.
    func held(in range: ClosedRange<Double>) -> Double {
        if range.contains(self) { return self }
        return self > range.upperBound ? range.upperBound : range.lowerBound
    }
}
