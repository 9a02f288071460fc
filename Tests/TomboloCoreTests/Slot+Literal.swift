@testable import TomboloCore

/// A test writes places as numbers.
extension Slot: ExpressibleByIntegerLiteral {
    public init(integerLiteral place: Int) { self.init(place) }
}
