import Synchronization

/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators": one seed, one sequence.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = state
        word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
        return word ^ word >> 31
    }

    /// 0 ..< `bound`.
    package mutating func next(below bound: UInt64) -> UInt64 { next() % bound }
}

/// 1, 2, 3 …
final class Numbers: Sendable {
    private let last = Mutex(0)

    func next() -> Int {
        last.withLock { last in
            last += 1
            return last
        }
    }
}
