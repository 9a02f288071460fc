/// The active faults. They come from a file, and the control port changes them at run time.
///
/// A pure state machine. Random choices come from a seed, so the same script and the same order of
/// pushes give the same outcome. The first open rule that matches a push applies to it.
package struct FaultScript: Sendable {
    /// A rule and its counter.
    package struct Entry: Sendable {
        package var id: Int
        package var rule: FaultRule
        package var givenAt: WallInstant
        /// Number of requests to which the rule was applied.
        package var taken = 0
    }

    /// Maximum number of rules; a larger script is a mistake.
    package static let rulesMax = 1_000

    package private(set) var entries: [Entry] = []
    private var nextID = 1
    private var chance: UInt64

    /// Starts without rules. `seed` decides which pushes a `share` selects.
    package init(seed: UInt64 = 0) { chance = seed }

    /// Appends a rule. Its window counts from now. Returns its id.
    @discardableResult
    package mutating func add(_ rule: FaultRule, at now: WallInstant) -> Int {
        defer { nextID += 1 }
        entries.append(Entry(id: nextID, rule: rule, givenAt: now))
        return nextID
    }

    /// Replaces all rules.
    package mutating func replace(with rules: [FaultRule], at now: WallInstant) {
        entries = []
        for rule in rules { add(rule, at: now) }
    }

    /// Removes a rule. Returns true if it existed.
    package mutating func remove(_ id: Int) -> Bool {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return false }
        entries.remove(at: index)
        return true
    }

    /// Returns the rule that applies to this push, and counts its use; nil if none applies.
    mutating func takeRule(for push: AcceptedPush, at now: WallInstant) -> FaultRule? {
        takeRule(for: FaultedRequest(push), at: now)
    }

    /// The same for any request.
    mutating func takeRule(for request: FaultedRequest, at now: WallInstant) -> FaultRule? {
        for index in entries.indices {
            let entry = entries[index]
            guard entry.rule.touchesPushes, entry.taken < entry.rule.times ?? .max,
                entry.rule.isOpen(at: now, since: entry.givenAt), entry.rule.concerns(request)
            else { continue }
            if entry.rule.share < 1, fraction() >= entry.rule.share { continue }
            entries[index].taken += 1
            return entry.rule
        }
        return nil
    }

    /// Maximum number of streams on a connection now; nil if no rule limits them.
    func streamsMax(at now: WallInstant) -> Int? {
        entries.filter { $0.rule.isOpen(at: now, since: $0.givenAt) }
            .compactMap(\.rule.streamsMax).min()
    }

    /// When the limit on streams may change next.
    func nextEdge(after now: WallInstant) -> WallInstant? {
        entries.filter { $0.rule.streamsMax != nil }
            .compactMap { $0.rule.nextEdge(after: now, since: $0.givenAt) }.min()
    }

    /// A random number from 0 up to, but not including, 1 (SplitMix64).
    private mutating func fraction() -> Double {
        chance &+= 0x9e37_79b9_7f4a_7c15
        var mixed = chance
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return Double((mixed ^ (mixed >> 31)) >> 11) / Double(UInt64(1) << 53)
    }
}
