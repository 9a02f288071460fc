/// Hashes of what families get of a timeline's contents, so that a widget that already has the
/// content costs no cut. They are made on first use and removed with their timeline.
///
/// On the core's thread only.
final class CutHashes: @unchecked Sendable {
    // Sendable: used by the core and by its answers, on the core's thread.

    /// The hashed part of an entry.
    enum Part { case all, content }

    private struct Key: Hashable {
        var part: Part
        var family: WidgetFamily?
    }

    private var known: [Key: (cut: FamilyCut?, hashes: [UInt64?])] = [:]

    /// The hash of each place, in the order of `places`.
    ///
    /// - Parameters:
    ///   - cut: nil means no cut.
    ///   - places: indices into the body's entries; nil means the body itself.
    ///   - count: the number of the body's entries.
    ///   - make: makes the same hashes from the contents.
    func hashes(
        _ part: Part, of places: [Int?], _ family: WidgetFamily?, _ cut: FamilyCut?,
        among count: Int, _ make: () -> [UInt64]
    ) -> [UInt64] {
        // A type that is registered again may have another cut.
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
