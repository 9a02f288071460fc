/// Hashes of what each widget family gets of a timeline. A widget that has this content already
/// then needs no cut. They are computed on first use and removed with the timeline.
///
/// Use it only on the core's thread.
final class CutHashes: @unchecked Sendable {
    // Sendable: the core and its answers use it, always on the core's thread.

    enum Part { case all, content }

    private struct Key: Hashable {
        var part: Part
        var family: WidgetFamily?
    }

    private var known: [Key: (cut: FamilyCut?, hashes: [UInt64?])] = [:]

    /// The hash of each place, in the order of `places`.
    ///
    /// - Parameters:
    ///   - cut: nil: the whole content.
    ///   - places: indices of the body's entries; nil is the body itself.
    ///   - count: number of the body's entries.
    ///   - make: computes these hashes from the contents.
    func hashes(
        _ part: Part, of places: [Int?], _ family: WidgetFamily?, _ cut: FamilyCut?,
        among count: Int, _ make: () -> [UInt64]
    ) -> [UInt64] {
        // If a type was registered again with another cut, its old hashes do not count.
        var hashes =
            known[Key(part: part, family: family)].flatMap { $0.cut == cut ? $0.hashes : nil }
            ?? Array(repeating: nil, count: count + 1)
        let found = places.compactMap { hashes[$0.map { $0 + 1 } ?? 0] }
        if found.count == places.count { return found }
        let made = make()
        for (place, hash) in zip(places, made) { hashes[place.map { $0 + 1 } ?? 0] = hash }
        known[Key(part: part, family: family)] = (cut, hashes)
        return made
    }
}
