/// The faults in force: given by a file, and changed over the control port while it runs.
///
/// A pure machine; chance comes from a seed, so that one script and one order of pushes give one
/// outcome. Of several rules that concern a push the first that is open takes it.
package struct FaultScript: Sendable {
    /// A rule, and what became of it.
    package struct Entry: Sendable {
        package var id: Int
        package var rule: FaultRule
        package var givenAt: WallInstant
        /// Pushes it took.
        package var taken = 0
    }

    /// Rules at once; a script beyond is a mistake.
    package static let rulesMax = 1_000

    package private(set) var entries: [Entry] = []
    private var nextID = 1
    private var chance: UInt64

    /// No rule. `seed`: of the chance by which a share is taken.
    package init(seed: UInt64 = 0) { chance = seed }

    /// Adds a rule behind the others; its clock starts now. Answers its id.
    @discardableResult
    package mutating func add(_ rule: FaultRule, at now: WallInstant) -> Int {
        defer { nextID += 1 }
        entries.append(Entry(id: nextID, rule: rule, givenAt: now))
        return nextID
    }

    /// Takes other rules instead of all there are.
    package mutating func replace(with rules: [FaultRule], at now: WallInstant) {
        entries = []
        for rule in rules { add(rule, at: now) }
    }

    /// Whether there was such a rule.
    package mutating func remove(_ id: Int) -> Bool {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return false }
        entries.remove(at: index)
        return true
    }

    /// The rule that takes this push, if any.
    mutating func take(_ push: AcceptedPush, at now: WallInstant) -> FaultRule? {
        take(FaultedRequest(push), at: now)
    }

    /// The same for any request.
    mutating func take(_ request: FaultedRequest, at now: WallInstant) -> FaultRule? {
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

    /// How many streams a connection may have now at most; nil: no fault says.
    func streamsMax(at now: WallInstant) -> Int? {
        entries.filter { $0.rule.isOpen(at: now, since: $0.givenAt) }
            .compactMap(\.rule.streamsMax).min()
    }

    /// When the limit on streams may change by itself.
    func nextEdge(after now: WallInstant) -> WallInstant? {
        entries.filter { $0.rule.streamsMax != nil }
            .compactMap { $0.rule.nextEdge(after: now, since: $0.givenAt) }.min()
    }

    /// 0 up to 1 (SplitMix64).
    private mutating func fraction() -> Double {
        chance &+= 0x9e37_79b9_7f4a_7c15
        var mixed = chance
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return Double((mixed ^ (mixed >> 31)) >> 11) / Double(UInt64(1) << 53)
    }
}
