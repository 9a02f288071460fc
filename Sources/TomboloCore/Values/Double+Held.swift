extension Double {
    /// The number, or the nearer end where it is outside `range`; the lower end for what is no
    /// number.
    func held(in range: ClosedRange<Double>) -> Double {
        if range.contains(self) { return self }
        return self > range.upperBound ? range.upperBound : range.lowerBound
    }
}
