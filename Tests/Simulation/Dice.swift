import TestSupport
import TomboloLoop

/// The world's chance: one generator for each purpose, so that switching a fault off leaves the
/// others' throws as they are.
struct Dice {
    enum Purpose: Int, CaseIterable {
        case plan, producers, apple, network, phones, disk, machine, operators
        case reloads, broadcasts, bundles, months, strangers, clocks, owners
        case losses, ids, renewals, history, environments, widgets, doors
        case debts, repeats
    }

    private var generators: [SplitMix64]

    init(seed: UInt64) {
        generators = Purpose.allCases.map { purpose in
            var root = SplitMix64(seed: seed ^ UInt64(purpose.rawValue + 1) << 56)
            return SplitMix64(seed: root.next())
        }
    }

    /// `range`, evenly.
    mutating func roll(_ purpose: Purpose, _ range: ClosedRange<Int>) -> Int {
        let span = UInt64(range.upperBound - range.lowerBound + 1)
        return range.lowerBound + Int(generators[purpose.rawValue].next(below: span))
    }

    /// True once in `count` throws.
    mutating func happens(_ purpose: Purpose, oneIn count: Int) -> Bool {
        roll(purpose, 1...count) == 1
    }

    /// A length of time, evenly, in milliseconds.
    mutating func time(_ purpose: Purpose, _ milliseconds: ClosedRange<Int>) -> Duration {
        .milliseconds(roll(purpose, milliseconds))
    }

    mutating func pick<Element>(_ purpose: Purpose, _ elements: [Element]) -> Element {
        elements[roll(purpose, 0...elements.count - 1)]
    }

    /// A seed for somebody else's generator.
    mutating func seed(_ purpose: Purpose) -> UInt64 { generators[purpose.rawValue].next() }
}
