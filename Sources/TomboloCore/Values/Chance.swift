/// A seeded random generator (SplitMix64). All random numbers of the core come from it.
package struct Chance: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Equal seeds give equal numbers, on every machine.
    package init(_ seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A random number from 0 up to, but not including, 1.
    mutating func fraction() -> Double { Double(next() >> 11) / Double(1 << 53) }
}
